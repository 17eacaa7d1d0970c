import { expect, test } from 'vitest'

import { FORMATS, formatted } from './formats.ts'

const format = (label: string) => FORMATS.find((each) => each.label === label)!

/** The text with the selection in brackets. */
function applied(text: string, label: string): string {
  const [start, end] = [text.indexOf('['), text.indexOf(']') - 1]
  const result = formatted(text.replace('[', '').replace(']', ''), start, end, format(label))
  return `${result.text.slice(0, result.start)}[${result.text.slice(result.start, result.end)}]${result.text.slice(result.end)}`
}

test('a format surrounds the selection, keeps it selected, and is removed by the next click', () => {
  expect(applied('a [word] here', 'Bold')).toBe('a **[word]** here')
  expect(applied('a **[word]** here', 'Bold')).toBe('a [word] here')
  expect(applied('[]', 'Code')).toBe('`[]`')
})

test('code of several lines becomes a block', () => {
  expect(applied('[one\ntwo]', 'Code')).toBe('```\n[one\ntwo]\n```')
})

test('a quote or a list marks each line of the selection, and the next click removes it', () => {
  expect(applied('before\n[one\ntwo]', 'List')).toBe('before\n- [one\n- two]')
  expect(applied('- [one\n- two]', 'List')).toBe('[one\ntwo]')
  expect(applied('whole li[]ne', 'Quote')).toBe('> whole li[]ne')
})
