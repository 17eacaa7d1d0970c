import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import type { LiveEvent } from '../src/events.ts'
import { apply, emptyState, load, loadHistory, type State } from '../src/state/state.ts'
import { MemoryGateway, ME } from './memoryGateway.ts'

const SPACES = ['spc_a', 'spc_b']
const NOW = Date.parse('2026-11-16T08:00:00.000Z')

function fresh(gateway: MemoryGateway, size = 1000, before: State = emptyState): State {
  const histories = Object.fromEntries(SPACES.map((id) => [id, gateway.page(id, size)]))
  return load(before, ME, gateway.spaces(), histories, [...gateway.runs.values()], gateway.pending())
}

const follow = (state: State, events: readonly LiveEvent[]): State =>
  events.reduce((known, event) => apply(known, event, NOW), state)

/** Without the count of events, which a load does not know. */
const facts = (state: State): State => ({ ...state, agents: { ...state.agents, runChanges: 0 } })

const step = fc.record({
  space: fc.constantFrom(...SPACES),
  what: fc.constantFrom('post', 'mention', 'own', 'tool', 'card', 'finish', 'read', 'rename', 'run', 'wait', 'end', 'edit', 'delete', 'react', 'pin', 'unpin'),
  n: fc.integer({ min: 1, max: 6 }),
})
type Step = { space: string; what: string; n: number }

function happen(gateway: MemoryGateway, { space, what, n }: Step): void {
  const tool = { callId: 'c', name: 'deploy', input: {}, output: null, status: 'running' as const, ui: null }
  if (what === 'post') gateway.post(space, 'ent_b')
  if (what === 'mention') gateway.post(space, 'ent_b', { mentions: [ME.id] })
  if (what === 'own') gateway.post(space, ME.id)
  if (what === 'tool') gateway.post(space, 'ent_a', { kind: 'tool', tool })
  if (what === 'card') gateway.post(space, 'ent_a', { kind: 'tool', runId: `run_${n}`, tool: { ...tool, callId: `c${gateway.log.length}`, ui: 'approval' } })
  if (what === 'finish') gateway.finishTool(space, n)
  if (what === 'read') gateway.read(space, n)
  if (what === 'rename') gateway.rename(space, 'ent_b', `Badr ${n}`)
  if (what === 'edit') gateway.edit(space, n, `edited ${gateway.log.length}`)
  if (what === 'delete') gateway.delete(space, n)
  if (what === 'react') gateway.react(space, n, n % 2 ? '👍' : '🎉')
  if (what === 'pin' || what === 'unpin') gateway.pin(space, n, what === 'pin')
  if (what === 'run') gateway.work(space, `run_${space}_${n % 2}`, 'running')
  if (what === 'wait') gateway.work(space, `run_${space}_${n % 2}`, 'waiting_reply')
  if (what === 'end') gateway.work(space, `run_${space}_${n % 2}`, 'completed')
}

describe('loaded state and events', () => {
  test('equal a fresh load, whenever the state was loaded and however much of the log is replayed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.nat(30), fc.nat(60), (steps, loadedAt, from) => {
        const gateway = new MemoryGateway(SPACES)
        let [state, known] = [fresh(gateway), 0]
        steps.forEach((each, n) => {
          if (n === loadedAt) [state, known] = [fresh(gateway), gateway.log.length]
          happen(gateway, each)
        })
        // From anywhere before the load: events that the state already includes change nothing.
        const replayed = follow(state, gateway.log.slice(Math.min(from, known)))
        expect(facts(replayed)).toEqual(facts(fresh(gateway)))
      }),
      { numRuns: 1000 },
    )
  })

  test('a run that ended between `connected` and the load is not shown as working', () => {
    const gateway = new MemoryGateway(SPACES)
    gateway.work('spc_a', 'run_1', 'running')
    const connected = apply(emptyState, { type: 'connected', activeAgents: [{ agentId: 'ent_a', runId: 'run_1', spaceId: 'spc_a' }], pendingToolCalls: [], streams: [] }, NOW)
    const open = gateway.log.length
    gateway.work('spc_a', 'run_1', 'completed')
    // The stream was opened before the load, so it also has the event that ended the run.
    expect(follow(fresh(gateway, 1000, connected), gateway.log.slice(open)).agents.working).toEqual({})
  })

  test('a run that starts and ends at once is noticed', () => {
    const gateway = new MemoryGateway(SPACES)
    const state = fresh(gateway)
    gateway.work('spc_a', 'run_1', 'running')
    gateway.work('spc_a', 'run_1', 'completed')
    const after = follow(state, gateway.log)
    expect(after.agents.working).toEqual(state.agents.working)
    expect(after.agents.runChanges).toBeGreaterThan(state.agents.runChanges)
  })

  test('a partial history and its earlier pages equal a full load', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), fc.integer({ min: 1, max: 5 }), (steps, size) => {
        const gateway = new MemoryGateway(SPACES)
        steps.forEach((each) => happen(gateway, each))
        const state = SPACES.reduce((known, id) => {
          const all = gateway.messages.get(id)!
          return loadHistory(known, id, all.slice(0, Math.max(0, all.length - size)))
        }, fresh(gateway, size))
        expect(state).toEqual(fresh(gateway))
      }),
      { numRuns: 100 },
    )
  })

  test('a gap in the event numbers makes the space be fetched', () => {
    const gateway = new MemoryGateway(SPACES)
    const state = fresh(gateway)
    gateway.post('spc_a', 'ent_b')
    gateway.post('spc_a', 'ent_b')
    expect([...follow(state, gateway.log.slice(1)).toFetch]).toEqual(['spc_a'])
    expect([...follow(state, gateway.log).toFetch]).toEqual([])
  })

  test.each(['run.paused', 'agent.renamed', 'space.pinned', 'tool-call.paused', 'weather'])('the unknown event %s of a newer server changes only the event number', (type) => {
    const gateway = new MemoryGateway(SPACES)
    gateway.work('spc_a', 'run_1', 'running')
    const state = fresh(gateway)
    const event = { type, spaceId: 'spc_a', runId: 'run_1', agentId: 'ent_a', streamId: 'str_1', eventSeq: 3 } as unknown as LiveEvent
    const after = apply(state, event, NOW)
    expect(after.agents).toEqual(state.agents)
    expect(after.spaces['spc_a']!.members).toEqual(state.spaces['spc_a']!.members)
    expect(apply(state, { type } as unknown as LiveEvent, NOW)).toEqual(state)
  })

  test('joining a space fetches it, leaving drops it with its runs', () => {
    const gateway = new MemoryGateway(SPACES)
    gateway.work('spc_a', 'run_1', 'running')
    const state = fresh(gateway)
    const left = apply(state, { type: 'space.member.left', spaceId: 'spc_a', entityId: ME.id, eventSeq: 9 }, NOW)
    expect(Object.keys(left.spaces)).toEqual(['spc_b'])
    expect(left.agents.working).toEqual({})
    const member = state.spaces['spc_a']!.members[0]!
    const back = apply(left, { type: 'space.member.joined', spaceId: 'spc_a', entityId: ME.id, member, eventSeq: 10 }, NOW)
    expect([...back.toFetch]).toEqual(['spc_a'])
  })
})
