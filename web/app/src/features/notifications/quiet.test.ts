import { expect, test } from 'vitest'

import { isQuiet } from './quiet.ts'

const at = (hours: number, minutes = 0) => new Date(2026, 10, 19, hours, minutes)

test('quiet hours begin and end at their minutes', () => {
  const siesta = { from: '13:00', to: '15:30' }
  expect([at(12, 59), at(13), at(15, 29), at(15, 30)].map((time) => isQuiet(siesta, time))).toEqual([false, true, true, false])
})

test('quiet hours span midnight', () => {
  const night = { from: '22:00', to: '07:00' }
  expect([at(21, 59), at(22), at(0), at(6, 59), at(7)].map((time) => isQuiet(night, time))).toEqual([false, true, true, true, false])
})

test('there are no quiet hours until they are set', () => {
  expect(isQuiet(null, at(3))).toBe(false)
  expect(isQuiet({ from: '08:00', to: '08:00' }, at(8))).toBe(false)
})
