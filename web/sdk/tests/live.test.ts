/** The live connection and the store against a small server over real HTTP that a test can cut. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { Store } from '../src/index.ts'
import { Gateway, ME } from './world.ts'

const HELLO = { type: 'connected', activeAgents: [], pendingToolCalls: [], streams: [] }

class Peer {
  readonly gateway = new Gateway(['spc_a'])
  /** The Last-Event-ID of each connection. */
  readonly connections: string[] = []
  status = 200
  loads = 0
  #server: Server = createServer((request, response) => this.#answer(request, response))
  #stream: ServerResponse | null = null
  #changed: () => void = () => {}
  #onPage: ((answer: () => void) => void) | null = null

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  send(event: object, id: string): void {
    this.#stream!.write(`id: ${id}\nevent: x\ndata: ${JSON.stringify(event)}\n\n`)
  }

  cut(): void {
    this.#stream!.destroy()
  }

  async connected(count: number): Promise<void> {
    while (this.connections.length < count) await new Promise<void>((resolve) => (this.#changed = resolve))
  }

  /** The next page of messages is what there is now, and comes when the test says so. */
  holdPage(): Promise<() => void> {
    return new Promise((asked) => (this.#onPage = asked))
  }

  #page(response: ServerResponse): void {
    const messages = this.gateway.page('spc_a', 50)
    const body = JSON.stringify({ messages, total: messages.length, hasMore: false })
    const answer = () => void response.writeHead(200, { 'Content-Type': 'application/json' }).end(body)
    const held = this.#onPage
    this.#onPage = null
    if (held) held(answer)
    else answer()
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(request.url!, 'http://x')
    if (pathname === '/api/events' && this.status === 200) {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      this.#stream = response
      this.send(HELLO, '0')
      this.connections.push(String(request.headers['last-event-id'] ?? ''))
      this.#changed()
      return
    }
    if (pathname === '/api/spaces/spc_a/messages') return this.#page(response)
    const answers: Record<string, unknown> = {
      '/api/me': ME,
      '/api/spaces': this.gateway.spaces(),
      '/api/tool-calls': [],
      '/api/runs': { runs: [], hasMore: false },
      '/api/spaces/spc_a': this.gateway.spaces()[0],
    }
    if (pathname === '/api/spaces') this.loads++
    const body = this.status === 200 ? answers[pathname] : { error: { code: 'over', message: 'The session is over.' } }
    response.writeHead(this.status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  }
}

let peer: Peer
let store: Store
beforeEach(async () => {
  peer = new Peer()
  store = new Store({ baseUrl: await peer.open() })
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

test('resync loads everything anew', async () => {
  store.start()
  await until(() => store.state.connection === 'live')
  peer.gateway.post('spc_a', 'ent_b')
  peer.gateway.post('spc_a', 'ent_b')
  peer.send({ type: 'resync' }, '9')
  await until(() => head() === 2)
  expect(peer.loads).toBe(2)
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
