/** `@majlis/react`: a space in a page of another origin, built as its users build it. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import type { Space } from '@majlis/client'
import type { Page } from 'playwright-core'
import { build, type Rolldown } from 'vite'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { resolve } from '../vitest.config.ts'
import { act, message, messages, send } from './harness/locators.ts'
import { TestApp, type Person } from './harness/testApp.ts'

const WEB = join(import.meta.dirname, '..')
const HOST = `
import { Store } from '@majlis/client'
import { MajlisSpace } from '@majlis/react'
import { createElement } from 'react'
import { createRoot } from 'react-dom/client'
const { baseUrl, token, spaceId } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
const store = new Store({ baseUrl, token })
createRoot(document.getElementById('here')).render(createElement(MajlisSpace, { store, baseUrl, spaceId, theme: 'light', style: { height: '500px' } }))`
// Styles that would break the space, if they reached it.
const STYLES = 'button { display: none } * { font-size: 40px; letter-spacing: 9px } h1 { color: rgb(1, 2, 3) }'

let server: Server
let origin: string
let app: TestApp
let [lina, ada]: Person[] = []
let space: Space
beforeAll(async () => {
  const files = new Map<string, string>()
  await build({ configFile: join(WEB, 'react/vite.config.ts'), logLevel: 'error' })
  const built = (await build({
    root: WEB,
    configFile: false,
    logLevel: 'error',
    resolve: { ...resolve, alias: { '@majlis/react': join(WEB, 'react/dist/index.js') } },
    plugins: [{ name: 'host', resolveId: (id) => (id === 'host' ? '\0host' : null), load: (id) => (id === '\0host' ? HOST : null) }],
    build: { write: false, modulePreload: false, rollupOptions: { input: 'host', output: { entryFileNames: 'host.js' } } },
  })) as Rolldown.RolldownOutput
  for (const each of built.output) if (each.type === 'chunk') files.set(`/${each.fileName}`, each.code)
  files.set('/', `<!doctype html><meta charset="utf-8"><title>Shop</title><style>${STYLES}</style><h1>Shop</h1><div id="here"></div><script type="module" src="/host.js"></script>`)
  server = createServer((request, response) => {
    const file = files.get(request.url ?? '')
    response.writeHead(file === undefined ? 404 : 200, { 'Content-Type': request.url?.endsWith('.js') ? 'text/javascript' : 'text/html' })
    response.end(file)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  app = await TestApp.start({ MAJLIS_ALLOWED_ORIGINS: origin })
  const tools = [{ name: 'approve', description: 'Asks for approval.', type: 'space', ui: 'approval' }]
  ;[lina, ada] = [await app.person('Lina'), await app.agent('Ada', { tools })]
})
afterAll(async () => {
  await app.close()
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})
beforeEach(async () => {
  space = await app.space('Help desk', [lina!, ada!])
})
afterEach(async () => {
  await app.closePages()
  expect(app.pageErrors.splice(0)).toEqual([])
})

/** Not signed in: the page has a token. */
async function open(): Promise<Page> {
  const context = await app.signedOut()
  const page = await app.openTab(context)
  await page.goto(`${origin}/#${new URLSearchParams({ baseUrl: app.gateway.url, token: lina!.token, spaceId: space.id })}`)
  return page
}

test('a page of another origin shows a space with its timeline, composer and cards', async () => {
  await app.owner.client.messages.post(space.id, { text: 'Welcome to **Majlis**' })
  const page = await open()
  await message(page, 'Welcome to Majlis').locator('strong').waitFor()
  await send(page, 'approve: May I send the invitations?')
  await message(page, 'May I send').getByRole('button', { name: 'Approve' }).click()
  await message(page, 'May I send').getByText('Approved').waitFor()
  const { messages } = await lina!.client.messages.list(space.id)
  expect(messages.map((each) => each.sender.name)).toContain('Lina')
  await page.context().close()
})

test('the styles of the page and of the space do not reach each other', async () => {
  await app.owner.client.messages.post(space.id, { text: 'Hello' })
  const page = await open()
  const said = message(page, 'Hello').getByText('Hello')
  await said.waitFor()
  const seen = await said.evaluate((element) => ({ size: getComputedStyle(element).fontSize, spacing: getComputedStyle(element).letterSpacing }))
  expect(parseFloat(seen.size)).toBeLessThan(20)
  expect(await page.locator('h1').evaluate((element) => getComputedStyle(element).color)).toBe('rgb(1, 2, 3)')
  expect(await page.getByRole('button', { name: 'Send' }).isVisible()).toBe(true)
  await page.context().close()
})

test('menus open within the space, and other pages of the gateway in a tab of their own', async () => {
  await app.owner.client.messages.post(space.id, { text: 'Look here' })
  const page = await open()
  const row = message(page, 'Look here')
  await row.hover()
  await row.getByRole('button', { name: 'More actions' }).click()
  const menu = page.getByRole('menu')
  await menu.waitFor()
  expect(await menu.evaluate((element) => element.getRootNode() instanceof ShadowRoot)).toBe(true)
  await page.getByRole('menuitem', { name: 'React with 🎉' }).click()
  await row.getByRole('button', { name: /🎉/ }).waitFor()
  await row.hover()
  await row.getByRole('button', { name: 'Reply' }).click()
  await send(page, 'I see')
  await message(page, 'I see').getByText('Look here').waitFor()
  await send(page, 'say: Done')
  const answer = messages(page).filter({ hasText: /^(?!.*say:).*Done/s })
  await answer.waitFor()
  const [opened] = await Promise.all([page.context().waitForEvent('page'), act(page, answer, 'View run')])
  await expect.poll(() => opened.url()).toContain(`${app.gateway.url}/spaces/${space.id}?inspect=run_`)
  await page.context().close()
})
