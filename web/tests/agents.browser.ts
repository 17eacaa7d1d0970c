/** The agent editor: templates, tools as forms, memories, versions, and a model that is really asked. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { TestApp, type Person } from './harness/testApp.ts'

let app: TestApp
let ada: Person
beforeAll(async () => {
  app = await TestApp.start()
  ada = await app.agent('Ada', { instructions: 'Be brief.' })
})
afterAll(() => app.close())
afterEach(() => app.closePages())

const configOf = async (id: string) => (await app.owner.client.agents.get(id)).config

test('a new agent begins with a template', async () => {
  const page = await app.open(app.owner, '/admin/agents')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Scribe')
  await page.getByRole('radio', { name: /^Note taker/ }).check()
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await expect.poll(() => page.getByRole('textbox', { name: 'Instructions' }).inputValue()).toContain('You take notes')
})

test('a tool is added, changed and removed as a form', async () => {
  const page = await app.open(app.owner, `/admin/agents/${ada.id}`)
  await page.getByRole('tab', { name: 'Tools' }).click()
  await page.getByRole('button', { name: 'Add tool' }).click()
  const tools = page.getByRole('region', { name: 'Tools', exact: true })
  await tools.getByRole('textbox', { name: 'Name', exact: true }).fill('weather')
  await tools.getByRole('textbox', { name: 'Description' }).fill('Tells the weather.')
  await tools.getByRole('textbox', { name: 'Url' }).fill('https://weather.example/today')
  const input = tools.getByRole('textbox', { name: /^Input schema/ })
  await input.fill('{"type": "object", "properties": {"city": ')
  await tools.getByText('Invalid JSON').waitFor()
  await input.fill('{"type": "object", "properties": {"city": {"type": "string"}}}')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/^Saved as version/).waitFor()
  expect((await configOf(ada.id))['tools']).toMatchObject([{ name: 'weather', type: 'http', description: 'Tells the weather.', inputSchema: { properties: { city: { type: 'string' } } }, execution: { method: 'GET', url: 'https://weather.example/today' } }])
  await page.getByRole('button', { name: 'Add MCP server' }).click()
  const servers = page.getByRole('region', { name: 'MCP servers' })
  await servers.getByRole('textbox', { name: 'Url' }).fill('http://127.0.0.1:9/mcp')
  await servers.getByRole('textbox', { name: 'Name', exact: true }).fill('far')
  await servers.getByRole('button', { name: 'Test' }).click()
  await servers.getByRole('status').getByText(/far/).waitFor()
  await servers.getByRole('button', { name: 'Remove far' }).click()
  await tools.getByRole('button', { name: 'Remove weather' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await configOf(ada.id))['tools']).toEqual([])
})

test('an earlier version is put into the editor and saved again', async () => {
  const scout = await app.agent('Scout', { instructions: 'first' })
  await app.owner.client.agents.change(scout.id, { config: { instructions: 'second' } })
  const page = await app.open(app.owner, `/admin/agents/${scout.id}`)
  await page.getByRole('tab', { name: 'Versions' }).click()
  const versions = page.getByRole('list', { name: 'Versions' }).getByRole('listitem')
  await versions.filter({ hasText: 'Version 2 (current)' }).getByText('changed instructions').waitFor()
  await versions.filter({ hasText: 'Version 1' }).getByRole('button', { name: 'Restore' }).click()
  await page.getByText('Version 1 is in the editor').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/^Saved as version 3/).waitFor()
  expect((await configOf(scout.id))['instructions']).toBe('first')
  await versions.filter({ hasText: 'Version 3 (current)' }).waitFor()
})

test('memories are added, corrected and deleted', async () => {
  const page = await app.open(app.owner, `/admin/agents/${ada.id}`)
  await page.getByRole('tab', { name: 'Memory' }).click()
  await page.getByRole('textbox', { name: 'Name of the memory' }).fill('door')
  await page.getByRole('textbox', { name: 'Text of the memory' }).fill('It is red.')
  await page.getByRole('button', { name: 'Add memory' }).click()
  const memory = page.getByRole('textbox', { name: 'Memory door' })
  await expect.poll(() => memory.inputValue()).toBe('It is red.')
  await memory.fill('It is green.')
  await page.getByRole('region', { name: 'Memories' }).getByRole('button', { name: 'Save' }).click()
  await expect.poll(async () => (await app.owner.client.agents.memories(ada.id)).map((each) => each.value)).toEqual(['It is green.'])
  await page.getByRole('button', { name: 'Delete memory door' }).click()
  await expect.poll(() => app.owner.client.agents.memories(ada.id)).toEqual([])
})

test('the model is asked with the config in the editor, and nothing is sent', async () => {
  const space = await app.space('Playground', [ada])
  const page = await app.open(app.owner, `/admin/agents/${ada.id}`)
  await page.getByRole('textbox', { name: 'Instructions' }).fill('Speak like a sailor.')
  const tried = page.getByRole('region', { name: 'Try it' })
  await tried.getByRole('textbox', { name: 'Message' }).fill('say: Ahoy!')
  await tried.getByRole('button', { name: 'Ask the model' }).click()
  const answer = tried.getByRole('region', { name: 'Answer' })
  await answer.getByText('Ahoy!', { exact: true }).waitFor()
  await answer.getByText(/input tokens/).waitFor()
  await tried.getByText('in the prompt').click()
  await tried.getByText(/Speak like a sailor/).first().waitFor({ state: 'attached' })
  expect((await app.owner.client.messages.list(space.id)).total).toBe(0)
  await tried.getByRole('textbox', { name: 'Message' }).fill('fail: no key')
  await tried.getByRole('button', { name: 'Ask the model' }).click()
  await tried.getByRole('alert').getByText(/key/).waitFor()
  expect(app.pageErrors).toEqual([])
})
