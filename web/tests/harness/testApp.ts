/** A gateway, a scripted model and a browser, with helpers to create members and open pages. */
import { createClient, type Client, type Space } from '@majlis/client'
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core'

import { Gateway, Model, OWNER_TOKEN } from './processes.ts'

export interface Person {
  id: string
  name: string
  token: string
  client: Client
}

export class TestApp {
  readonly gateway: Gateway
  readonly model: Model
  readonly owner: Person
  readonly #browser: Browser
  readonly #contexts: BrowserContext[] = []
  /** Console errors and exceptions of all pages. */
  readonly pageErrors: string[] = []

  private constructor(gateway: Gateway, model: Model, browser: Browser, owner: Person) {
    this.gateway = gateway
    this.model = model
    this.#browser = browser
    this.owner = owner
  }

  static async start(settings: Record<string, string> = {}): Promise<TestApp> {
    const [gateway, model, browser] = await Promise.all([Gateway.create(settings), Model.start(), launch()])
    const client = createClient({ baseUrl: gateway.url, token: OWNER_TOKEN })
    const me = await client.me()
    return new TestApp(gateway, model, browser, { id: me.id, name: me.name, token: OWNER_TOKEN, client })
  }

  async close(): Promise<void> {
    await this.#browser.close()
    await Promise.all([this.gateway.close(), this.model.close()])
  }

  async person(name: string): Promise<Person> {
    const { id } = await this.owner.client.entities.create({ type: 'human', name, role: 'member' })
    return this.#withToken(id, name)
  }

  async agent(name: string, config: Record<string, unknown> = {}): Promise<Person> {
    const model = { provider: 'openai', name: 'scripted', baseUrl: this.model.url }
    const { id } = await this.owner.client.agents.create({ name, config: { model, ...config } })
    return this.#withToken(id, name)
  }

  async space(name: string, members: { id: string }[] = [], more: { description?: string; triggers?: 'mentioned' } = {}): Promise<Space> {
    const space = await this.owner.client.spaces.create({ name, ...more })
    for (const member of members) await this.owner.client.spaces.add(space.id, { entityId: member.id, role: 'member' })
    return space
  }

  async #withToken(id: string, name: string): Promise<Person> {
    const { token } = await this.owner.client.entities.createToken(id, {})
    return { id, name, token, client: createClient({ baseUrl: this.gateway.url, token }) }
  }

  /** A page in a browser context of its own, signed in. */
  async open(person: Person, path = '/', options: BrowserContextOptions = {}): Promise<Page> {
    // Playwright does not see requests that pass through a service worker.
    const context = await this.#browser.newContext({ baseURL: this.gateway.url, viewport: { width: 1280, height: 800 }, serviceWorkers: 'block', ...options })
    this.#contexts.push(context)
    const signedIn = await context.request.post('/api/session', { data: { token: person.token }, headers: { Origin: this.gateway.url } })
    if (!signedIn.ok()) throw new Error(`${person.name} could not sign in: ${signedIn.status()}`)
    const page = await this.openTab(context)
    await page.goto(path)
    return page
  }

  async openTab(context: BrowserContext): Promise<Page> {
    const page = await context.newPage()
    page.setDefaultTimeout(30_000)
    page.on('pageerror', (error) => this.pageErrors.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource|ERR_CONNECTION/.test(message.text())) this.pageErrors.push(message.text())
    })
    return page
  }

  signedOut(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    return this.#browser.newContext({ baseURL: this.gateway.url, serviceWorkers: 'block', ...options })
  }

  async closePages(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()))
  }
}

function launch(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-component-update', '--disable-sync']
  // Only for the browser; other programs use the system libraries.
  const libraries = process.env['MAJLIS_TEST_CHROMIUM_LIBRARIES']
  const env = { ...process.env, ...(libraries ? { LD_LIBRARY_PATH: libraries } : {}) } as Record<string, string>
  return chromium.launch({ executablePath: process.env['MAJLIS_TEST_CHROMIUM']!, args, env })
}
