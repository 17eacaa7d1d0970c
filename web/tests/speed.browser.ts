/** Figures of the app. On a busy machine they say more about the machine, so they are only held when all of it is asked for. */
import { createServer, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { House } from './harness/testApp.ts'
import { composer, messages } from './harness/locators.ts'

const AGENTS = 10
const SECONDS = 4

/** Stands before the gateway and adds words of agents to its live stream, as many and as often as there could be. */
class Chorus {
  readonly #server: Server
  #stream: ServerResponse | null = null
  url = ''

  constructor(gateway: string) {
    this.#server = createServer((incoming, outgoing) => {
      const upstream = request(gateway + incoming.url!, { method: incoming.method!, headers: incoming.headers }, (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(outgoing)
        if (incoming.url === '/api/events') this.#stream = outgoing
      })
      upstream.on('error', () => outgoing.destroy())
      incoming.pipe(upstream)
    })
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  /** Twenty times a second each, which is the most that the server sends. */
  sing(spaceId: string, agentIds: string[]): Promise<void> {
    let [offset, beats] = [0, 0]
    for (const agentId of agentIds) this.#send({ type: 'tool-call.start', streamId: `str_${agentId}`, spaceId, runId: `run_${agentId}`, agentId, toolName: 'send_message' })
    return new Promise((resolve) => {
      const timer = setInterval(() => {
        const textDelta = beats % 8 === 7 ? '\n\n- and **another** thing ' : 'some more `words` here '
        for (const agentId of agentIds) this.#send({ type: 'tool-input-delta', streamId: `str_${agentId}`, spaceId, textDelta, offset })
        offset += textDelta.length
        if (++beats < SECONDS * 20) return
        clearInterval(timer)
        resolve()
      }, 50)
    })
  }

  #send(event: object): void {
    this.#stream!.write(`event: x\ndata: ${JSON.stringify(event)}\n\n`)
  }
}

describe.runIf(process.env['MAJLIS_TEST_THOROUGH'])('figures', () => {
  let house: House
  beforeAll(async () => {
    house = await House.open()
  })
  afterAll(() => house.close())

  test('typing stays smooth while ten agents write', async () => {
    const lina = await house.person('Lina')
    const agents = await Promise.all(Array.from({ length: AGENTS }, (_, n) => house.agent(`Agent ${n}`)))
    const space = await house.space('Chorus', [lina, ...agents])
    const chorus = await new Chorus(house.gateway.url).open()
    // A cookie does not look at the port.
    const page = await house.visit(lina)
    await page.goto(`${chorus.url}/spaces/${space.id}`)
    await composer(page).click()
    await page.evaluate(() => {
      const frames: number[] = []
      let last = performance.now()
      const beat = (now: number) => {
        frames.push(now - last)
        last = now
        requestAnimationFrame(beat)
      }
      requestAnimationFrame(beat)
      Object.assign(window, { frames })
    })
    const singing = chorus.sing(space.id, agents.map((agent) => agent.id))
    await composer(page).pressSequentially('All of this I write while ten agents write.', { delay: 60 })
    await singing
    const frames = await page.evaluate(() => (window as unknown as { frames: number[] }).frames)
    const sorted = frames.toSorted((a, b) => a - b)
    console.log(`frames: ${frames.length}, median ${sorted[frames.length >> 1]!.toFixed(0)} ms, 99 % ${sorted[Math.floor(frames.length * 0.99)]!.toFixed(0)} ms, longest ${sorted.at(-1)!.toFixed(0)} ms`)
    expect(await composer(page).inputValue()).toBe('All of this I write while ten agents write.')
    expect(sorted.at(-1)!).toBeLessThan(50)
    chorus.close()
  })

  test('the first message is there within a second', async () => {
    const lina = await house.person('Nour')
    const space = await house.space('Quick', [lina])
    for (let n = 0; n < 60; n++) await house.owner.client.messages.post(space.id, { text: `line ${n}` })
    const page = await house.visit(lina, '/')
    const start = performance.now()
    await page.goto(`/spaces/${space.id}`)
    await messages(page).first().waitFor()
    const took = performance.now() - start
    console.log(`first message after ${took.toFixed(0)} ms`)
    expect(took).toBeLessThan(1000)
  })
})
