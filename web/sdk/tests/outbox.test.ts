/** Sending, and unsent messages across reloads and tabs, against a small HTTP server. */
import { afterEach, beforeEach, expect, test } from 'vitest'

import { Store, type OutboxStorage, type OutgoingMessage } from '../src/index.ts'
import { ME } from './memoryGateway.ts'
import { TestServer, until } from './testServer.ts'

/** Like a browser's storage: shared by all tabs and all people who use the browser. */
class SharedStorage implements OutboxStorage {
  readonly items = new Map<string, { spaceId: string; message: OutgoingMessage }>()

  load(me: string) {
    const found: Record<string, OutgoingMessage[]> = {}
    for (const [key, { spaceId, message }] of this.items) if (key.startsWith(`${me} `)) (found[spaceId] ??= []).push(message)
    return found
  }

  save(me: string, spaceId: string, message: OutgoingMessage) {
    this.items.set(`${me} ${message.clientId}`, { spaceId, message })
  }

  remove(me: string, clientId: string) {
    this.items.delete(`${me} ${clientId}`)
  }

  has(me: string, clientId: string) {
    return this.items.has(`${me} ${clientId}`)
  }
}

let server: TestServer
let url: string
let storage: SharedStorage
let stores: Store[]
beforeEach(async () => {
  server = new TestServer()
  url = await server.open()
  storage = new SharedStorage()
  stores = []
})
afterEach(() => {
  stores.forEach((store) => store.stop())
  server.close()
})

async function tab(): Promise<Store> {
  const store = new Store({ baseUrl: url, outboxStorage: storage })
  stores.push(store)
  store.start()
  await until(store, () => store.state.connection === 'live')
  return store
}

const waiting = (store: Store) => (store.state.outgoing['spc_a'] ?? []).filter((each) => each.status === 'waiting')

/** Sends a message while the server is down. */
async function sendWhileDown(store: Store, text: string): Promise<void> {
  const before = waiting(store).length
  server.status = 503
  store.outbox.send('spc_a', { text })
  await until(store, () => waiting(store).length > before)
  server.status = 200
}

test('an unsent message is sent as its author, not as the next person who signs in', async () => {
  const mine = await tab()
  await sendWhileDown(mine, 'mine')
  mine.stop()
  server.me = { ...ME, id: 'ent_b', name: 'Badr' }
  const badrs = await tab()
  expect(badrs.state.outgoing).toEqual({})
  badrs.stop()
  server.me = ME
  await tab()
  await server.until(() => server.posted.length === 1)
  expect(server.posted).toEqual(['Lina: mine'])
})

test('a tab that sends keeps the unsent messages of other tabs', async () => {
  const [one, two] = [await tab(), await tab()]
  await sendWhileDown(one, 'from the first tab')
  one.stop()
  two.outbox.send('spc_a', { text: 'from the second' })
  await until(two, () => two.state.spaces['spc_a']!.headSeq === 1)
  expect([...storage.items.values()].map((each) => each.message.text)).toEqual(['from the first tab'])
  await tab()
  await server.until(() => server.posted.length === 2)
  expect(server.posted.at(-1)).toBe('Lina: from the first tab')
})

test('a message deleted in one tab is not sent by another', async () => {
  const one = await tab()
  await sendWhileDown(one, 'better not')
  one.outbox.stop()
  server.status = 503
  const two = new Store({ baseUrl: url, outboxStorage: storage })
  stores.push(two)
  two.outbox.open(ME.id)
  one.outbox.discard('spc_a', waiting(one)[0]!.clientId)
  server.status = 200
  two.outbox.sendWaiting()
  await until(two, () => two.state.outgoing['spc_a']?.length === 0)
  expect([server.posted, storage.items.size]).toEqual([[], 0])
})

test('a stored message leaves the storage even if its response was lost', async () => {
  const one = await tab()
  await sendWhileDown(one, 'it came through')
  one.stop()
  const { clientId } = waiting(one)[0]!
  server.gateway.post('spc_a', ME.id, { clientId, text: 'it came through' })
  const two = new Store({ baseUrl: url, outboxStorage: storage })
  stores.push(two)
  two.loader.watch('spc_a')
  two.start()
  await until(two, () => two.state.connection === 'live')
  await until(two, () => storage.items.size === 0)
  expect([two.state.outgoing['spc_a'], server.posted]).toEqual([[], []])
})

test('a read position that could not be sent is sent again', async () => {
  const store = await tab()
  const message = server.gateway.post('spc_a', 'ent_b')
  server.send(server.gateway.log[0]!, '1')
  await until(store, () => store.state.spaces['spc_a']!.headSeq === 1)
  server.status = 503
  store.readPositions.markRead(message)
  server.cut()
  await until(store, () => store.state.connection === 'lost')
  server.status = 200
  store.reconnect()
  await server.until(() => server.reads.length === 1)
  expect(server.reads).toEqual([message.id])
})
