import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { StreamEvent } from '../src/events.ts'
import { apply, emptyState, load } from '../src/state/state.ts'
import { MemoryGateway, ME } from './memoryGateway.ts'

const place = { streamId: 'str_1', spaceId: 'spc_a' }
const start: StreamEvent = { ...place, type: 'tool-call.start', runId: 'run_1', agentId: 'ent_a', toolName: 'send_message' }
const delta = (textDelta: string, offset: number): StreamEvent => ({ ...place, type: 'tool-input-delta', textDelta, offset })

function loaded(gateway = new MemoryGateway(['spc_a'])) {
  return load(emptyState, ME, gateway.spaces(), { spc_a: [] }, [])
}

describe('text streams', () => {
  test('are complete however they are split, and if deltas are repeated', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', minLength: 1 }), { maxLength: 8 }), fc.nat(7), (pieces, again) => {
        let offset = 0
        const deltas = pieces.map((piece) => {
          const event = delta(piece, offset)
          offset += [...piece].length
          return event
        })
        const twice = [...deltas.slice(0, again + 1), ...deltas.slice(again)]
        const end = [start, ...twice].reduce((state, event) => apply(state, event, 0), loaded())
        expect(end.agents.streams['str_1']?.text).toBe(pieces.join(''))
      }),
      { numRuns: 100 },
    )
  })

  test('show the input of a visible tool until its message is there', () => {
    const gateway = new MemoryGateway(['spc_a'])
    const piece = (argsDelta: string, offset: number): StreamEvent => ({ ...place, type: 'tool-input-delta', argsDelta, offset })
    const calling = [{ ...start, toolName: 'deploy' }, piece('{"to":', 0), piece('"prod"}', 6)].reduce((state, event) => apply(state, event, 0), loaded(gateway))
    expect(calling.agents.streams['str_1']).toMatchObject({ tool: 'deploy', text: '{"to":"prod"}' })
    gateway.post('spc_a', 'ent_a', { kind: 'tool' }, 'str_1')
    expect(apply(calling, gateway.log[0]!, 0).agents.streams).toEqual({})
  })

  test('are replaced by the stored message, and late events are ignored', () => {
    const gateway = new MemoryGateway(['spc_a'])
    const speaking = [start, delta('Hel', 0)].reduce((state, event) => apply(state, event, 0), loaded(gateway))
    gateway.post('spc_a', 'ent_a', { text: 'Hello' }, 'str_1')
    const said = apply(speaking, gateway.log[0]!, 0)
    const late = [delta('lo', 3), start].reduce((state, event) => apply(state, event, 0), said)
    expect(late.agents.streams).toEqual({})
    expect(late.spaces['spc_a']!.history!.map((message) => message.text)).toEqual(['Hello'])
  })

  test('are removed after an error, and when their run ends', () => {
    const speaking = [start, delta('Hel', 0)].reduce((state, event) => apply(state, event, 0), loaded())
    expect(apply(speaking, { ...place, type: 'tool-call.error' }, 0).agents.streams).toEqual({})
    const ended = { type: 'run.canceled', spaceId: 'spc_a', runId: 'run_1', agentId: 'ent_a', eventSeq: 1 } as const
    expect(apply(speaking, ended, 0).agents.streams).toEqual({})
  })

  test('continue from the snapshot of a new connection', () => {
    const speaking = [start, delta('Hello', 0)].reduce((state, event) => apply(state, event, 0), loaded())
    const stream = { ...place, text: 'Hello, wor', agentId: 'ent_a' }
    const again = apply(speaking, { type: 'connected', activeAgents: [], pendingToolCalls: [], streams: [stream] }, 0)
    expect(apply(again, delta('ld', 10), 0).agents.streams['str_1']?.text).toBe('Hello, world')
    const none = apply(again, { type: 'connected', activeAgents: [], pendingToolCalls: [], streams: [] }, 0)
    expect(none.agents.streams).toEqual({})
  })

  test('show the latest progress of a tool until it has a result', () => {
    const gateway = new MemoryGateway(['spc_a'])
    const tool = { callId: 'call_1', name: 'deploy', input: {}, output: null, status: 'running' as const, ui: null }
    gateway.post('spc_a', 'ent_a', { kind: 'tool', runId: 'run_1', tool })
    const progress = (text: string) => ({ type: 'tool-call.progress', spaceId: 'spc_a', callId: 'call_1', toolName: 'deploy', text }) as const
    const working = [gateway.log[0]!, progress('1 of 2'), progress('2 of 2')].reduce((state, event) => apply(state, event, 0), loaded())
    expect(working.agents.progress).toEqual({ call_1: '2 of 2' })
    gateway.finishTool('spc_a', 1)
    expect(apply(working, gateway.log[1]!, 0).agents.progress).toEqual({})
  })
})
