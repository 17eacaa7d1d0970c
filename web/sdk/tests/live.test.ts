/** The live connection and the store, against a small HTTP server that a test can disconnect. */
import { afterEach, beforeEach, expect, test } from 'vitest'

import { Store } from '../src/index.ts'
import { ME, runOf } from './memoryGateway.ts'
import { TestServer, until as untilStore } from './testServer.ts'

let server: TestServer
let url: string
let store: Store
beforeEach(async () => {
  server = new TestServer()
  url = await server.open()
  store = new Store({ baseUrl: url })
})
afterEach(() => {
  store.stop()
  server.close()
})

const until = (holds: () => boolean) => untilStore(store, holds)
const head = () => store.state.spaces['spc_a']?.headSeq

test('after a disconnect it continues after the last event, without loading again', async () => {
  store.start()
  await until(() => store.state.connection === 'live')
  server.gateway.post('spc_a', 'ent_b')
  server.send(server.gateway.log[0]!, '7')
  await until(() => head() === 1)
  server.cut()
  await server.connected(2)
  expect(server.connections).toEqual(['', '7'])
  server.gateway.post('spc_a', 'ent_b')
  server.send(server.gateway.log[1]!, '8')
  await until(() => head() === 2)
  expect(server.loads).toBe(1)
})

test('a message that arrives while the history loads is included', async () => {
  store.start()
  await until(() => store.state.connection === 'live')
  const asked = server.holdPage()
  store.loader.watch('spc_a')
  const answer = await asked
  server.gateway.post('spc_a', 'ent_b')
  server.send(server.gateway.log[0]!, '1')
  await until(() => head() === 1)
  answer()
  await until(() => store.state.spaces['spc_a']?.history?.length === 1)
})

test('a page that is older than the latest events removes no messages', async () => {
  store.start()
  await until(() => store.state.connection === 'live')
  store.loader.watch('spc_a')
  await until(() => store.state.spaces['spc_a']?.history?.length === 0)
  const asked = server.holdPage()
  const newest = store.loader.newest('spc_a')
  const answer = await asked
  for (let n = 0; n < 2; n++) server.gateway.post('spc_a', 'ent_b')
  server.send(server.gateway.log[0]!, '1')
  server.send(server.gateway.log[1]!, '2')
  await until(() => head() === 2)
  answer()
  await newest
  expect(store.state.spaces['spc_a']!.history!.map((message) => message.seq)).toEqual([1, 2])
})

test('resync loads everything again', async () => {
  store.start()
  await until(() => store.state.connection === 'live')
  server.gateway.post('spc_a', 'ent_b')
  server.gateway.post('spc_a', 'ent_b')
  server.send({ type: 'resync' }, '9')
  await until(() => head() === 2)
  expect(server.loads).toBe(2)
})

test('a resync reloads the part of the history that the reader is in', async () => {
  const seqs = () => store.state.spaces['spc_a']!.history!.map((message) => message.seq)
  const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, n) => first + n)
  const tool = { callId: 'c', name: 'deploy', input: {}, output: null, status: 'running' as const, ui: null }
  server.gateway.post('spc_a', 'ent_a', { kind: 'tool', tool })
  for (let n = 2; n <= 140; n++) server.gateway.post('spc_a', 'ent_b')
  store.start()
  await until(() => store.state.connection === 'live')
  store.loader.watch('spc_a')
  await until(() => store.state.spaces['spc_a']?.history?.length === 50)
  await store.loader.earlier('spc_a')
  expect(seqs()).toEqual(upTo(140))
  server.gateway.finishTool('spc_a', 1)
  for (let n = 141; n <= 200; n++) server.gateway.post('spc_a', 'ent_b')
  server.send({ type: 'resync' }, '9')
  await until(() => head() === 200)
  expect(seqs()).toEqual(upTo(200))
  expect(store.state.spaces['spc_a']!.history![0]!.tool!.status).toBe('complete')
  // Also in the middle, far from the newest message.
  await store.loader.newest('spc_a')
  await store.loader.around('spc_a', 'msg_spc_a_70')
  expect(seqs()).toEqual(upTo(120, 20))
  server.gateway.post('spc_a', 'ent_b')
  server.send({ type: 'resync' }, '10')
  await until(() => head() === 201)
  expect(seqs()).toEqual(upTo(120, 20))
})

test('a missing event makes the store fetch the space', async () => {
  store.start()
  await until(() => store.state.connection === 'live')
  server.gateway.post('spc_a', 'ent_b')
  server.gateway.rename('spc_a', 'ent_b', 'Badr the Elder')
  server.gateway.post('spc_a', 'ent_b')
  server.send(server.gateway.log[0]!, '1')
  server.send(server.gateway.log[2]!, '3')
  await until(() => store.state.spaces['spc_a']?.eventSeq === 3 && store.state.toFetch.size === 0)
  expect(store.state.spaces['spc_a']!.members.map((member) => member.name)).toContain('Badr the Elder')
})

test.each([
  ['a resync', '/api/runs', () => server.send({ type: 'resync' }, '9')],
  ['a missing event', '/api/spaces/spc_a', () => server.send(server.gateway.log[1]!, '9')],
])('a space that is opened while %s is being repaired gets its history', async (_, path, repair) => {
  store.start()
  await until(() => store.state.connection === 'live')
  for (let n = 0; n < 2; n++) server.gateway.post('spc_a', 'ent_b')
  const asked = server.hold(path)
  repair()
  const answer = await asked
  store.loader.watch('spc_a')
  await until(() => store.state.spaces['spc_a']?.history?.length === 2)
  answer()
  await until(() => store.state.toFetch.size === 0 && store.state.spaces['spc_a']?.eventSeq === 2)
  await until(() => store.state.spaces['spc_a']?.history?.length === 2)
})

test('a call without a response times out, and everything is loaded again', async () => {
  store = new Store({ baseUrl: url, timeoutMs: 200 })
  const asked = server.hold('/api/me')
  store.start()
  await asked
  await until(() => store.state.connection === 'live')
  expect(server.connections.length).toBeGreaterThan(1)
})

test('a missing event also reloads the active runs', async () => {
  store.start()
  await until(() => store.state.connection === 'live')
  server.gateway.work('spc_a', 'run_1', 'running')
  server.gateway.work('spc_a', 'run_1', 'completed')
  server.gateway.post('spc_a', 'ent_b')
  server.runs = [runOf('run_2', 'spc_a', 'running')]
  const [started, active] = server.gateway.log
  server.send(started!, '1')
  server.send(active!, '2')
  await until(() => 'run_1 spc_a' in store.state.agents.working)
  server.send(server.gateway.log.at(-1)!, '9')
  await until(() => head() === 1 && store.state.toFetch.size === 0)
  await until(() => Object.keys(store.state.agents.working).join() === 'run_2 spc_a')
})

test('a stopped store can be started again, as React strict mode does', async () => {
  store.start()
  store.stop()
  store.start()
  await until(() => store.state.connection === 'live')
  store.stop()
  store.start()
  await server.connected(2)
  server.gateway.post('spc_a', 'ent_b')
  server.send(server.gateway.log[0]!, '1')
  await until(() => head() === 1)
})

test('a 401 response ends the connection', async () => {
  server.status = 401
  store.start()
  await until(() => store.state.connection === 'ended')
  expect(store.state.me).toBe(null)
})

test('it reconnects when a server that was down is back', async () => {
  server.status = 503
  store.start()
  await until(() => store.state.connection === 'lost')
  server.status = 200
  store.reconnect()
  await until(() => store.state.connection === 'live')
  expect(store.state.me).toEqual(ME)
})
