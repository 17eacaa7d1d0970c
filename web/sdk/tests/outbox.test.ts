/** What is on its way out, and what survives the page: against a small server over real HTTP. */
import { afterEach, beforeEach, expect, test } from 'vitest'

import { Store, type Keeping, type Sending } from '../src/index.ts'
import { Peer } from './testServer.ts'
import { ME } from './memoryGateway.ts'

/** As a browser's storage: one for all tabs and for everybody who sits down at it. */
class Shelf implements Keeping {
  readonly kept = new Map<string, { spaceId: string; sending: Sending }>()

  load(me: string) {
    const found: Record<string, Sending[]> = {}
    for (const [key, { spaceId, sending }] of this.kept) if (key.startsWith(`${me} `)) (found[spaceId] ??= []).push(sending)
    return found
  }

  keep(me: string, spaceId: string, sending: Sending) {
    this.kept.set(`${me} ${sending.clientId}`, { spaceId, sending })
  }

  drop(me: string, clientId: string) {
    this.kept.delete(`${me} ${clientId}`)
  }

  holds(me: string, clientId: string) {
    return this.kept.has(`${me} ${clientId}`)
  }
}

let peer: Peer
let url: string
let shelf: Shelf
let stores: Store[]
beforeEach(async () => {
  peer = new Peer()
  url = await peer.open()
  shelf = new Shelf()
  stores = []
})
afterEach(() => {
  stores.forEach((store) => store.stop())
  peer.close()
})

async function tab(): Promise<Store> {
  const store = new Store({ baseUrl: url, keeping: shelf })
  stores.push(store)
  store.start()
  await until(store, () => store.state.connection === 'live')
  return store
}

const until = (store: Store, holds: () => boolean) =>
  new Promise<void>((resolve) => {
    const look = () => holds() && resolve()
    store.subscribe(look)
    look()
  })
const waiting = (store: Store) => (store.state.sending['spc_a'] ?? []).filter((each) => each.status === 'waiting')

/** Written while nobody takes it. */
async function write(store: Store, text: string): Promise<void> {
  const before = waiting(store).length
  peer.status = 503
  store.outbox.send('spc_a', { text })
  await until(store, () => waiting(store).length > before)
  peer.status = 200
}

test('it goes out under the name of who wrote it, whoever signs in next in the same browser', async () => {
  const mine = await tab()
  await write(mine, 'mine')
  mine.stop()
  peer.me = { ...ME, id: 'ent_b', name: 'Badr' }
  const badrs = await tab()
  expect(badrs.state.sending).toEqual({})
  badrs.stop()
  peer.me = ME
  await tab()
  await peer.until(() => peer.posted.length === 1)
  expect(peer.posted).toEqual(['Lina: mine'])
})

test('what one tab has not sent yet survives what another one sends', async () => {
  const [one, two] = [await tab(), await tab()]
  await write(one, 'from the first tab')
  one.stop()
  two.outbox.send('spc_a', { text: 'from the second' })
  await until(two, () => two.state.spaces['spc_a']!.headSeq === 1)
  expect([...shelf.kept.values()].map((each) => each.sending.text)).toEqual(['from the first tab'])
  await tab()
  await peer.until(() => peer.posted.length === 2)
  expect(peer.posted.at(-1)).toBe('Lina: from the first tab')
})

test('what its author has deleted in one tab is not sent by another', async () => {
  const one = await tab()
  await write(one, 'better not')
  one.outbox.rest()
  peer.status = 503
  const two = new Store({ baseUrl: url, keeping: shelf })
  stores.push(two)
  two.outbox.open(ME.id)
  one.outbox.discard('spc_a', waiting(one)[0]!.clientId)
  peer.status = 200
  two.outbox.sendWaiting()
  await until(two, () => two.state.sending['spc_a']?.length === 0)
  expect([peer.posted, shelf.kept.size]).toEqual([[], 0])
})

test('what has arrived though nobody said so is kept no longer', async () => {
  const one = await tab()
  await write(one, 'it came through')
  one.stop()
  const { clientId } = waiting(one)[0]!
  peer.gateway.post('spc_a', ME.id, { clientId, text: 'it came through' })
  const two = new Store({ baseUrl: url, keeping: shelf })
  stores.push(two)
  two.loading.watch('spc_a')
  two.start()
  await until(two, () => two.state.connection === 'live')
  await until(two, () => shelf.kept.size === 0)
  expect([two.state.sending['spc_a'], peer.posted]).toEqual([[], []])
})

test('how far one has read is told again when it could not be told', async () => {
  const store = await tab()
  const message = peer.gateway.post('spc_a', 'ent_b')
  peer.send(peer.gateway.log[0]!, '1')
  await until(store, () => store.state.spaces['spc_a']!.headSeq === 1)
  peer.status = 503
  store.reading.upTo(message)
  peer.cut()
  await until(store, () => store.state.connection === 'lost')
  peer.status = 200
  store.hurry()
  await peer.until(() => peer.reads.length === 1)
  expect(peer.reads).toEqual([message.id])
})
