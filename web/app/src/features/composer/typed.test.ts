import { expect, test } from 'vitest'

import { typedAt } from './typed.ts'

const typed = (text: string) => {
  const found = typedAt(text, text.length)
  return found && `${found.kind} ${found.from} ${found.text}`
}

test('a mention, an emoji or a command is recognized while it is typed', () => {
  expect(typed('hello @Om')).toBe('mention 6 Om')
  expect(typed('nice :par')).toBe('emoji 5 par')
  expect(typed('/mu')).toBe('command 0 mu')
  expect(typed('/')).toBe('command 0 ')
})

test.each(['at 10:30', ':)', ':D', 'a :p', 'see /etc', '/etc/passwd', '/mute now', 'mail@x', 'https://x'])('%j is only text', (text) => {
  expect(typed(text)).toBeNull()
})
