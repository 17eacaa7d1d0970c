import { describe, expect, test } from 'vitest'

import { addOutgoing, setStatus, type OutgoingMessage } from '../src/state/outgoing.ts'
import { apply, applySent, emptyState, load, type State } from '../src/state/state.ts'
import { MemoryGateway, ME } from './memoryGateway.ts'

const NOW = 0
const draft = (clientId: string): OutgoingMessage => ({ clientId, text: clientId, at: '2026-11-16T08:00:00.000Z', status: 'sending' })

/** Two messages sent in a row, and what can arrive: the response and the event of each, or no response. */
function twoSends() {
  const gateway = new MemoryGateway(['spc_a'])
  const start = load(emptyState, ME, gateway.spaces(), { spc_a: [] }, [])
  const first = gateway.post('spc_a', ME.id, { clientId: 'one', text: 'one' })
  const second = gateway.post('spc_a', ME.id, { clientId: 'two', text: 'two' })
  const outgoing = ['one', 'two'].reduce((known, id) => addOutgoing(known, 'spc_a', draft(id)), start.outgoing)
  const step = {
    reply1: (state: State) => applySent(state, first),
    reply2: (state: State) => applySent(state, second),
    event1: (state: State) => apply(state, gateway.log[0]!, NOW),
    event2: (state: State) => apply(state, gateway.log[1]!, NOW),
    lost1: (state: State) => ({ ...state, outgoing: setStatus(state.outgoing, 'spc_a', 'one', 'waiting', 'no answer') }),
  }
  const settled = load(emptyState, ME, gateway.spaces(), { spc_a: gateway.page('spc_a', 50) }, [])
  return { start: { ...start, outgoing }, step, settled }
}

type Name = keyof ReturnType<typeof twoSends>['step']

function orders(names: Name[]): Name[][] {
  if (names.length < 2) return [names]
  return names.flatMap((name, n) => orders(names.toSpliced(n, 1)).map((rest) => [name, ...rest]))
}

// Events of a space come in order, and so do responses; the two can interleave in any way.
const possible = (order: Name[]) =>
  order.indexOf('event1') < order.indexOf('event2') && order.indexOf('reply1') <= order.indexOf('reply2')

describe('an optimistic send', () => {
  const both = orders(['reply1', 'event1', 'reply2', 'event2']).filter(possible)
  const lost = orders(['lost1', 'event1', 'reply2', 'event2']).filter(possible)

  test.each([...both, ...lost].map((order) => ({ order, name: order.join(' ') })))('appears once after $name', ({ order }) => {
    const { start, step, settled } = twoSends()
    const end = order.reduce((state, name) => step[name](state), start)
    expect(end.outgoing['spc_a']).toEqual([])
    expect(end.spaces['spc_a']).toEqual(settled.spaces['spc_a'])
  })

  test('every message is shown exactly once at any time, stored or outgoing', () => {
    for (const order of both) {
      const { start, step } = twoSends()
      order.reduce((state, name) => {
        const next = step[name](state)
        const stored = next.spaces['spc_a']!.history!.map((message) => message.text)
        const waiting = next.outgoing['spc_a']!.map((each) => each.text)
        expect([...stored, ...waiting].toSorted()).toEqual(['one', 'two'])
        return next
      }, start)
    }
  })
})
