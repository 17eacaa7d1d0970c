import fc from 'fast-check'
import { expect, test } from 'vitest'

import { EventParser } from '../src/sse.ts'

test('events do not depend on how the bytes are split', () => {
  const bytes = new TextEncoder().encode(
    ': beat\n\nid: 1\nevent: space.message\ndata: {"text":"مجلس 🫖"}\n\n:\n\nid: 2\r\ndata: a\r\ndata:b\r\n\r\nevent: no-data\n\n',
  )
  const whole = [
    { id: '1', type: 'space.message', data: '{"text":"مجلس 🫖"}' },
    { id: '2', type: 'message', data: 'a\nb' },
  ]
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
      const parser = new EventParser()
      const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
      const events = places.slice(1).flatMap((end, n) => parser.feed(bytes.slice(places[n], end)))
      expect(events).toEqual(whole)
    }),
    { numRuns: 100 },
  )
})
