import { describe, expect, test } from 'vitest'

import { begin, change, type Sending } from '../src/state/outgoing.ts'
import { apply, load, nothing, takeOwn, type State } from '../src/state/state.ts'
import { Gateway, ME } from './memoryGateway.ts'

const NOW = 0
const draft = (clientId: string): Sending => ({ clientId, text: clientId, at: '2026-11-16T08:00:00.000Z', status: 'sending' })

/** Two quick sends of mine, and what can then arrive: the answer and the event of each, or a lost answer. */
function twoSends() {
  const gateway = new Gateway(['spc_a'])
  const start = load(nothing, ME, gateway.spaces(), { spc_a: [] }, [])
  const first = gateway.post('spc_a', ME.id, { clientId: 'one', text: 'one' })
  const second = gateway.post('spc_a', ME.id, { clientId: 'two', text: 'two' })
  const sending = ['one', 'two'].reduce((known, id) => begin(known, 'spc_a', draft(id)), start.sending)
  const step = {
    reply1: (state: State) => takeOwn(state, first),
    reply2: (state: State) => takeOwn(state, second),
    event1: (state: State) => apply(state, gateway.log[0]!, NOW),
    event2: (state: State) => apply(state, gateway.log[1]!, NOW),
    lost1: (state: State) => ({ ...state, sending: change(state.sending, 'spc_a', 'one', 'waiting', 'no answer') }),
  }
  const settled = load(nothing, ME, gateway.spaces(), { spc_a: gateway.page('spc_a', 50) }, [])
  return { start: { ...start, sending }, step, settled }
}

type Name = keyof ReturnType<typeof twoSends>['step']

function orders(names: Name[]): Name[][] {
  if (names.length < 2) return [names]
  return names.flatMap((name, n) => orders(names.toSpliced(n, 1)).map((rest) => [name, ...rest]))
}

// Events of one space come in order, and so do one's own sends; answers and events mix freely.
const possible = (order: Name[]) =>
  order.indexOf('event1') < order.indexOf('event2') && order.indexOf('reply1') <= order.indexOf('reply2')

describe('an optimistic send', () => {
  const both = orders(['reply1', 'event1', 'reply2', 'event2']).filter(possible)
  const lost = orders(['lost1', 'event1', 'reply2', 'event2']).filter(possible)

  test.each([...both, ...lost].map((order) => ({ order, name: order.join(' ') })))('is there once after $name', ({ order }) => {
    const { start, step, settled } = twoSends()
    const end = order.reduce((state, name) => step[name](state), start)
    expect(end.sending['spc_a']).toEqual([])
    expect(end.spaces['spc_a']).toEqual(settled.spaces['spc_a'])
  })

  test('shows at each moment every message once, stored or on its way', () => {
    for (const order of both) {
      const { start, step } = twoSends()
      order.reduce((state, name) => {
        const next = step[name](state)
        const stored = next.spaces['spc_a']!.history!.map((message) => message.text)
        const waiting = next.sending['spc_a']!.map((each) => each.text)
        expect([...stored, ...waiting].toSorted()).toEqual(['one', 'two'])
        return next
      }, start)
    }
  })
})
