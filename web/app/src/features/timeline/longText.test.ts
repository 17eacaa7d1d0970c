import { expect, test } from 'vitest'

import { isLong, startOf } from './longText.ts'

test.each([
  ['one screen of prose', 'word '.repeat(600), false],
  ['two screens of prose', 'word '.repeat(1500), true],
  ['a page of short lines', 'line\n'.repeat(60), false],
  ['many short lines', 'line\n'.repeat(100), true],
  ['a long code block, which scrolls on its own', `Here:\n\`\`\`js\n${'const a = 1\n'.repeat(500)}\`\`\`\nDone.`, false],
])('%s', (_, text, long) => {
  expect(isLong(text)).toBe(long)
})

test('the beginning of a long text is a part of it', () => {
  const text = 'line\n'.repeat(500)
  expect(text.startsWith(startOf(text))).toBe(true)
  expect(startOf(text).split('\n')).toHaveLength(41)
})
