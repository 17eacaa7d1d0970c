/** The live connection and the store against a small server over real HTTP that a test can cut. */
import { afterEach, beforeEach, expect, test } from 'vitest'

import { Store } from '../src/index.ts'
import { Peer } from './testServer.ts'
import { ME, runOf } from './memoryGateway.ts'

let peer: Peer
let url: string
let store: Store
beforeEach(async () => {
  peer = new Peer()
  url = await peer.open()
  store = new Store({ baseUrl: url })
})
afterEach(() => {
  store.stop()
  peer.close()
})

const until = (holds: () => boolean) =>
  new Promise<void>((resolve) => {
    const look = () => holds() && resolve()
    store.subscribe(look)
    look()
  })
const head = () => store.state.spaces['spc_a']?.headSeq

test('after a cut it goes on from the last event, and loads nothing again', async () => {
  store.start()
  await until(() => store.state.connection === 'live')
  peer.gateway.post('spc_a', 'ent_b')
  peer.send(peer.gateway.log[0]!, '7')
  await until(() => head() === 1)
  peer.cut()
  await peer.connected(2)
  expect(peer.connections).toEqual(['', '7'])
  peer.gateway.post('spc_a', 'ent_b')
  peer.send(peer.gateway.log[1]!, '8')
  await until(() => head() === 2)
  expect(peer.loads).toBe(1)
})

test('what is said while the history is on its way is in it', async () => {
  store.start()
  await until(() => store.state.connection === 'live')
  const asked = peer.holdPage()
  store.loading.watch('spc_a')
  const answer = await asked
  peer.gateway.post('spc_a', 'ent_b')
  peer.send(peer.gateway.log[0]!, '1')
  await until(() => head() === 1)
  answer()
  await until(() => store.state.spaces['spc_a']?.history?.length === 1)
})

test('a page of the newest that was read before the newest was said takes nothing away', async () => {
  store.start()
  await until(() => store.state.connection === 'live')
  store.loading.watch('spc_a')
  await until(() => store.state.spaces['spc_a']?.history?.length === 0)
  const asked = peer.holdPage()
  const newest = store.loading.newest('spc_a')
  const answer = await asked
  for (let n = 0; n < 2; n++) peer.gateway.post('spc_a', 'ent_b')
  peer.send(peer.gateway.log[0]!, '1')
  peer.send(peer.gateway.log[1]!, '2')
  await until(() => head() === 2)
  answer()
  await newest
  expect(store.state.spaces['spc_a']!.history!.map((message) => message.seq)).toEqual([1, 2])
})

test('resync loads everything anew', async () => {
  store.start()
  await until(() => store.state.connection === 'live')
  peer.gateway.post('spc_a', 'ent_b')
  peer.gateway.post('spc_a', 'ent_b')
  peer.send({ type: 'resync' }, '9')
  await until(() => head() === 2)
  expect(peer.loads).toBe(2)
})

test('who reads far up stays there after a resync, and sees it as it is now', async () => {
  const seqs = () => store.state.spaces['spc_a']!.history!.map((message) => message.seq)
  const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, n) => first + n)
  const tool = { callId: 'c', name: 'deploy', input: {}, output: null, status: 'running' as const, ui: null }
  peer.gateway.post('spc_a', 'ent_a', { kind: 'tool', tool })
  for (let n = 2; n <= 140; n++) peer.gateway.post('spc_a', 'ent_b')
  store.start()
  await until(() => store.state.connection === 'live')
  store.loading.watch('spc_a')
  await until(() => store.state.spaces['spc_a']?.history?.length === 50)
  await store.loading.earlier('spc_a')
  expect(seqs()).toEqual(upTo(140))
  peer.gateway.finishTool('spc_a', 1)
  for (let n = 141; n <= 200; n++) peer.gateway.post('spc_a', 'ent_b')
  peer.send({ type: 'resync' }, '9')
  await until(() => head() === 200)
  expect(seqs()).toEqual(upTo(200))
  expect(store.state.spaces['spc_a']!.history![0]!.tool!.status).toBe('complete')
  // In the middle, far from the newest: there, too.
  await store.loading.newest('spc_a')
  await store.loading.around('spc_a', 'msg_spc_a_70')
  expect(seqs()).toEqual(upTo(120, 20))
  peer.gateway.post('spc_a', 'ent_b')
  peer.send({ type: 'resync' }, '10')
  await until(() => head() === 201)
  expect(seqs()).toEqual(upTo(120, 20))
})

test('an event that is missing fetches its space', async () => {
  store.start()
  await until(() => store.state.connection === 'live')
  peer.gateway.post('spc_a', 'ent_b')
  peer.gateway.rename('spc_a', 'ent_b', 'Badr the Elder')
  peer.gateway.post('spc_a', 'ent_b')
  peer.send(peer.gateway.log[0]!, '1')
  peer.send(peer.gateway.log[2]!, '3')
  await until(() => store.state.spaces['spc_a']?.eventSeq === 3 && store.state.toFetch.size === 0)
  expect(store.state.spaces['spc_a']!.members.map((member) => member.name)).toContain('Badr the Elder')
})

test.each([
  ['a resync', '/api/runs', () => peer.send({ type: 'resync' }, '9')],
  ['a missing event', '/api/spaces/spc_a', () => peer.send(peer.gateway.log[1]!, '9')],
])('who comes into a space while %s is being healed sees its history', async (_, path, heal) => {
  store.start()
  await until(() => store.state.connection === 'live')
  for (let n = 0; n < 2; n++) peer.gateway.post('spc_a', 'ent_b')
  const asked = peer.hold(path)
  heal()
  const answer = await asked
  store.loading.watch('spc_a')
  await until(() => store.state.spaces['spc_a']?.history?.length === 2)
  answer()
  await until(() => store.state.toFetch.size === 0 && store.state.spaces['spc_a']?.eventSeq === 2)
  await until(() => store.state.spaces['spc_a']?.history?.length === 2)
})

test('an answer that never comes is given up, and everything is asked for again', async () => {
  store = new Store({ baseUrl: url, patience: 200 })
  const asked = peer.hold('/api/me')
  store.start()
  await asked
  await until(() => store.state.connection === 'live')
  expect(peer.connections.length).toBeGreaterThan(1)
})

test('an event that is missing may have been an agent’s: who works is asked anew, too', async () => {
  store.start()
  await until(() => store.state.connection === 'live')
  peer.gateway.work('spc_a', 'run_1', 'running')
  peer.gateway.work('spc_a', 'run_1', 'completed')
  peer.gateway.post('spc_a', 'ent_b')
  peer.runs = [runOf('run_2', 'spc_a', 'running')]
  const [started, active] = peer.gateway.log
  peer.send(started!, '1')
  peer.send(active!, '2')
  await until(() => 'run_1 spc_a' in store.state.agents.working)
  peer.send(peer.gateway.log.at(-1)!, '9')
  await until(() => head() === 1 && store.state.toFetch.size === 0)
  await until(() => Object.keys(store.state.agents.working).join() === 'run_2 spc_a')
})

test('what was stopped can be started again, as React does in its strict mode', async () => {
  store.start()
  store.stop()
  store.start()
  await until(() => store.state.connection === 'live')
  store.stop()
  store.start()
  await peer.connected(2)
  peer.gateway.post('spc_a', 'ent_b')
  peer.send(peer.gateway.log[0]!, '1')
  await until(() => head() === 1)
})

test('the end of the session ends it', async () => {
  peer.status = 401
  store.start()
  await until(() => store.state.connection === 'ended')
  expect(store.state.me).toBe(null)
})

test('a server that is down for a while is waited for', async () => {
  peer.status = 503
  store.start()
  await until(() => store.state.connection === 'lost')
  peer.status = 200
  store.hurry()
  await until(() => store.state.connection === 'live')
  expect(store.state.me).toEqual(ME)
})
