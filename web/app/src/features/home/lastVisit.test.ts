import { expect, test } from 'vitest'

import { following } from './lastVisit.ts'

const HOUR = 3_600_000

test('a visit begins after half an hour away, and a reload continues it', () => {
  const first = following(null, 100 * HOUR)
  expect(first).toEqual({ left: 100 * HOUR, since: 76 * HOUR })
  expect(following(first, 100.2 * HOUR)).toEqual({ left: 100.2 * HOUR, since: 76 * HOUR })
  expect(following(first, 103 * HOUR)).toEqual({ left: 103 * HOUR, since: 100 * HOUR })
})
