import { expect, test } from 'vitest'

import { addRange, countUnseen, seenUpTo } from './seenRanges.ts'

test('ranges that touch or overlap become one', () => {
  const apart = addRange(addRange([], 1, 5), 10, 12)
  expect(apart).toEqual([[1, 5], [10, 12]])
  expect(addRange(apart, 6, 9)).toEqual([[1, 12]])
  expect(addRange(apart, 2, 3)).toBe(apart)
  expect(addRange(apart, 13, 12)).toBe(apart)
})

test('everything is read up to the first message that was not on the screen', () => {
  const ranges = addRange(addRange([], 4, 6), 9, 9)
  expect(seenUpTo(ranges, 3)).toBe(6)
  expect(seenUpTo(ranges, 1)).toBe(1)
  expect(seenUpTo([], 2)).toBe(2)
})

test('messages that were not on the screen are counted', () => {
  const ranges = addRange(addRange([], 4, 6), 9, 9)
  expect(countUnseen(ranges, 3, 9)).toBe(3)
  expect(countUnseen(ranges, 4, 6)).toBe(0)
  expect(countUnseen([], 5, 4)).toBe(0)
})
