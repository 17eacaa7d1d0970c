/** Performance limits. Checked only with MAJLIS_TEST_THOROUGH, because they depend on how busy the machine is. */
import { createServer, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { composer, messages } from './harness/locators.ts'
import { TestApp } from './harness/testApp.ts'

const AGENTS = 10
const SECONDS = 4

/** A proxy that adds text of many agents to the live stream of the gateway. */
class StreamGenerator {
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

  /** 20 events per second and agent, the maximum that the server sends. */
  write(spaceId: string, agentIds: string[]): Promise<void> {
    let [offset, ticks] = [0, 0]
    for (const agentId of agentIds) this.#send({ type: 'tool-call.start', streamId: `str_${agentId}`, spaceId, runId: `run_${agentId}`, agentId, toolName: 'send_message' })
    return new Promise((resolve) => {
      const timer = setInterval(() => {
        const textDelta = ticks % 8 === 7 ? '\n\n- and **another** thing ' : 'some more `words` here '
        for (const agentId of agentIds) this.#send({ type: 'tool-input-delta', streamId: `str_${agentId}`, spaceId, textDelta, offset })
        offset += textDelta.length
        if (++ticks < SECONDS * 20) return
        clearInterval(timer)
        resolve()
      }, 50)
    })
  }

  #send(event: object): void {
    this.#stream!.write(`event: x\ndata: ${JSON.stringify(event)}\n\n`)
  }
}

describe.runIf(process.env['MAJLIS_TEST_THOROUGH'])('performance', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await TestApp.start()
  })
  afterAll(() => app.close())

  test('typing stays smooth while ten agents write', async () => {
    const lina = await app.person('Lina')
    const agents = await Promise.all(Array.from({ length: AGENTS }, (_, n) => app.agent(`Agent ${n}`)))
    const space = await app.space('Busy', [lina, ...agents])
    const generator = await new StreamGenerator(app.gateway.url).open()
    // Cookies ignore the port.
    const page = await app.open(lina)
    await page.goto(`${generator.url}/spaces/${space.id}`)
    await composer(page).click()
    await page.evaluate(() => {
      const frames: number[] = []
      let last = performance.now()
      const onFrame = (now: number) => {
        frames.push(now - last)
        last = now
        requestAnimationFrame(onFrame)
      }
      requestAnimationFrame(onFrame)
      Object.assign(window, { frames })
    })
    const writing = generator.write(space.id, agents.map((agent) => agent.id))
    await composer(page).pressSequentially('I am typing this while ten agents write.', { delay: 60 })
    await writing
    const frames = await page.evaluate(() => (window as unknown as { frames: number[] }).frames)
    const sorted = frames.toSorted((a, b) => a - b)
    console.log(`frames: ${frames.length}, median ${sorted[frames.length >> 1]!.toFixed(0)} ms, 99 % ${sorted[Math.floor(frames.length * 0.99)]!.toFixed(0)} ms, longest ${sorted.at(-1)!.toFixed(0)} ms`)
    expect(await composer(page).inputValue()).toBe('I am typing this while ten agents write.')
    expect(sorted.at(-1)!).toBeLessThan(50)
    generator.close()
  })

  test('the first message appears within a second', async () => {
    const lina = await app.person('Nour')
    const space = await app.space('Quick', [lina])
    for (let n = 0; n < 60; n++) await app.owner.client.messages.post(space.id, { text: `line ${n}` })
    const page = await app.open(lina, '/')
    const start = performance.now()
    await page.goto(`/spaces/${space.id}`)
    await messages(page).first().waitFor()
    const took = performance.now() - start
    console.log(`first message after ${took.toFixed(0)} ms`)
    expect(took).toBeLessThan(1000)
  })

  test('a switch between spaces takes less than 100 ms with 5,000 messages', { timeout: 400_000 }, async () => {
    const sami = await app.person('Sami')
    const [long, short] = [await app.space('Long talk', [sami]), await app.space('Short talk', [sami])]
    await app.owner.client.messages.post(short.id, { text: 'the only message' })
    await app.gateway.fillHistory(long.id, app.owner.id, 5000)
    const [last] = (await sami.client.messages.list(long.id, { limit: 1 })).messages
    await sami.client.spaces.read(long.id, last!.id)
    const page = await app.open(sami, `/spaces/${long.id}`)
    // All of them are loaded, as after a long day.
    const first = messages(page).filter({ hasText: /line 0\./ })
    await messages(page).first().waitFor()
    while ((await first.count()) === 0) await page.getByRole('group', { name: 'Messages' }).evaluate((box) => new Promise((resolve) => { box.scrollTop = 0; requestAnimationFrame(resolve) }))
    const switchTo = (id: string) =>
      page.evaluate(async (wanted) => {
        const before = new Set<Element>(document.querySelectorAll('article'))
        const start = performance.now()
        document.querySelector<HTMLElement>(`[data-space="${wanted}"]`)!.click()
        const shown = () => [...document.querySelectorAll('[data-messages] article')].some((each) => !before.has(each))
        while (!shown()) await new Promise(requestAnimationFrame)
        // The next frame has painted it.
        await new Promise(requestAnimationFrame)
        return performance.now() - start
      }, id)
    await switchTo(short.id)
    const times: number[] = []
    for (let n = 0; n < 11; n++) {
      times.push(await switchTo(long.id))
      await switchTo(short.id)
    }
    const sorted = times.toSorted((a, b) => a - b)
    console.log(`switches to 5,000 messages: fastest ${sorted[0]!.toFixed(0)} ms, median ${sorted[5]!.toFixed(0)} ms, slowest ${sorted.at(-1)!.toFixed(0)} ms`)
    expect(sorted[5]!).toBeLessThan(100)
  })
})
