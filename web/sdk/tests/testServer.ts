/** A small HTTP server that a test can disconnect and hold back. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import type { Run, Store } from '../src/index.ts'
import { ME, MemoryGateway } from './memoryGateway.ts'

const CONNECTED = { type: 'connected', activeAgents: [], pendingToolCalls: [], streams: [] }

/** Waits until a condition on the store holds. */
export const until = (store: Store, holds: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    const check = () => holds() && resolve()
    store.subscribe(check)
    check()
  })

export class TestServer {
  readonly gateway = new MemoryGateway(['spc_a'])
  /** The Last-Event-ID of each connection. */
  readonly connections: string[] = []
  status = 200
  me = ME
  /** Accepted messages as "Sender: text", and reported read positions. */
  readonly posted: string[] = []
  readonly reads: string[] = []
  runs: Run[] = []
  loads = 0
  #server: Server = createServer((request, response) => this.#answer(request, response))
  #stream: ServerResponse | null = null
  #changed: () => void = () => {}
  #onPage: ((answer: () => void) => void) | null = null
  readonly #onPath = new Map<string, (answer: () => void) => void>()

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

  connected(count: number): Promise<void> {
    return this.until(() => this.connections.length >= count)
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => (this.#changed = resolve))
  }

  /** Holds back the next page of messages. Resolves with a function that sends it, with the messages of now. */
  holdPage(): Promise<() => void> {
    return new Promise((asked) => (this.#onPage = asked))
  }

  /** The same for the next response at this path. */
  hold(path: string): Promise<() => void> {
    return new Promise((asked) => this.#onPath.set(path, asked))
  }

  #page(response: ServerResponse, query: URLSearchParams): void {
    const all = this.gateway.messages.get('spc_a')!
    const place = (name: string) => all.findIndex((message) => message.id === query.get(name))
    const limit = Number(query.get('limit') ?? 50)
    const messages = query.has('after') ? all.slice(place('after') + 1).slice(0, limit) : all.slice(0, query.has('before') ? place('before') : all.length).slice(-limit)
    const body = JSON.stringify({ messages, total: all.length, hasMore: false })
    const answer = () => void response.writeHead(200, { 'Content-Type': 'application/json' }).end(body)
    const held = this.#onPage
    this.#onPage = null
    if (held) held(answer)
    else answer()
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.url!, 'http://x')
    if (pathname === '/api/events' && this.status === 200) {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' })
      this.#stream = response
      this.send(CONNECTED, '0')
      this.connections.push(String(request.headers['last-event-id'] ?? ''))
      this.#changed()
      return
    }
    if (request.method === 'POST') return void this.#take(request, response, pathname)
    if (pathname === '/api/spaces/spc_a/messages') return this.#page(response, searchParams)
    const answers: Record<string, unknown> = {
      [pathname]: this.gateway.messages.get('spc_a')!.find((message) => pathname === `/api/messages/${message.id}`),
      '/api/me': this.me,
      '/api/spaces': this.gateway.spaces(),
      '/api/tool-calls': [],
      '/api/runs': { runs: this.runs.filter((run) => run.status === searchParams.get('status')), hasMore: false },
      '/api/spaces/spc_a': this.gateway.spaces()[0],
    }
    if (pathname === '/api/spaces') this.loads++
    const body = this.status === 200 ? answers[pathname] : { error: { code: 'over', message: 'The session has ended.' } }
    const [status, text, held] = [this.status, JSON.stringify(body), this.#onPath.get(pathname)]
    this.#onPath.delete(pathname)
    const answer = () => void response.writeHead(status, { 'Content-Type': 'application/json' }).end(text)
    if (held) held(answer)
    else answer()
  }

  async #take(request: IncomingMessage, response: ServerResponse, pathname: string): Promise<void> {
    let text = ''
    for await (const part of request) text += String(part)
    const body = JSON.parse(text) as { text: string; clientId: string; lastMessageId: string }
    if (this.status !== 200) return void response.writeHead(this.status, { 'Content-Type': 'application/json' }).end('{}')
    if (pathname.endsWith('/read')) this.reads.push(body.lastMessageId)
    else this.posted.push(`${this.me.name}: ${body.text}`)
    const answer = pathname.endsWith('/read') ? {} : this.gateway.post('spc_a', this.me.id, { text: body.text, clientId: body.clientId })
    response.writeHead(201, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer))
    this.#changed()
  }
}
