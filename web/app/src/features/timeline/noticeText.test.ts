import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterEach, expect, test } from 'vitest'

import arabic from '../../language/ar/index.ts'
import { setLanguage } from '../../language/language.ts'
import { noticeText } from './noticeText.ts'

const SERVER = join(import.meta.dirname, '../../../../../src/majlis')
afterEach(() => setLanguage('en', {}))

test('a notice that the server posts is shown in the language of the app, others as they are', () => {
  const failed = "Ada couldn't answer. An admin has been notified."
  expect(noticeText(failed)).toBe(failed)
  setLanguage('ar', arabic, 'ar-EG')
  expect(noticeText(failed)).toBe('تعذّر على \u2068Ada\u2069 الرد. أُبلغ أحد المسؤولين.')
  expect(noticeText("Agents have replied to each other 8 times in a row, so Ada's message was not delivered to any agent. A message from a person resets this.")).toContain('٨')
  expect(noticeText('Something else.')).toBe('Something else.')
})

test('the server still posts these texts', () => {
  const sources = ['runs/end/settle.py', 'inbox/deliver.py', 'tools/builtin/turns.py', 'runs/claim/runs_per_cause.py'].map((file) => readFileSync(join(SERVER, file), 'utf8'))
  for (const part of ["couldn't answer. An admin has been notified.", 'Agents have replied to each other {', 'Agents have acted {', "Agents' messages have started {"]) {
    expect(sources.some((source) => source.includes(part)), part).toBe(true)
  }
})
