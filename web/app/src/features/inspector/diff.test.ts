import fc from 'fast-check'
import { expect, test } from 'vitest'

import { diff } from './diff.ts'

const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 12 }).map((lines) => lines.join('\n'))

test('without the added lines it is the old text, without the removed lines the new text', () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diff(before, after)
      const without = (kind: string) => lines.filter((line) => line.kind !== kind).map((line) => line.text).join('\n')
      expect([without('added'), without('removed')]).toEqual([before, after])
    }),
  )
})

test('equal texts have no difference', () => {
  expect(diff('a\nb', 'a\nb').every((line) => line.kind === 'same')).toBe(true)
})
