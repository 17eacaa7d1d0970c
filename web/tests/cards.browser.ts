import { join } from 'node:path'

import type { Space } from '@majlis/client'
import { createServer } from 'vite'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { message, send, spaceRow } from './harness/locators.ts'
import { MCP_SERVER } from './harness/processes.ts'
import { TestApp, type Person } from './harness/testApp.ts'

const TOOLS = [
  { name: 'approve', description: 'Asks for approval.', type: 'space', ui: 'approval' },
  { name: 'choose', description: 'Asks for a choice.', type: 'space', ui: 'choice', execution: { options: ['Tea', 'Coffee'] } },
  {
    name: 'fill', description: 'Asks for details.', type: 'space', ui: 'form',
    inputSchema: { type: 'object', properties: { question: { type: 'string' } } },
    execution: { resultSchema: { type: 'object', properties: { guests: { type: 'integer', title: 'Guests' }, day: { type: 'string', format: 'date', title: 'Day' } }, required: ['guests', 'day'] } },
  },
]
let app: TestApp
let [lina, omar, ada]: Person[] = []
let space: Space
beforeAll(async () => {
  app = await TestApp.start()
  ;[lina, omar, ada] = [await app.person('Lina'), await app.person('Omar'), await app.agent('Ada', { tools: TOOLS })]
})
afterAll(() => app.close())
beforeEach(async () => {
  space = await app.space('Project Alpha', [lina!, omar!, ada!])
})
afterEach(async () => {
  await app.closePages()
  expect(app.pageErrors.splice(0)).toEqual([])
})

test('an approval appears in every tab, and one answer closes it in all of them', async () => {
  const at = `/spaces/${space.id}`
  const [hers, his, elsewhere] = await Promise.all([app.open(lina!, at), app.open(omar!, at), app.open(omar!, '/')])
  await send(hers, 'approve: May I send the invitations?')
  for (const page of [hers, his]) await page.getByRole('button', { name: 'Approve' }).waitFor()
  await spaceRow(elsewhere, 'Project Alpha').getByText('Ada needs your decision').waitFor()
  await his.getByLabel('Add a comment').fill('but not to the press')
  await his.getByRole('button', { name: 'Approve' }).click()
  for (const page of [hers, his]) {
    await message(page, 'May I send').getByText('Approved: “but not to the press”').waitFor()
    await message(page, 'May I send').getByText('Omar').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
  }
  await spaceRow(elsewhere, 'Project Alpha').getByText('needs your decision').waitFor({ state: 'detached' })
  await hers.reload()
  await message(hers, 'May I send').getByText('Approved').waitFor()
})

test('a choice and a form send results that match their schema', async () => {
  const hers = await app.open(lina!, `/spaces/${space.id}`)
  await send(hers, 'choose: What should we order?')
  await hers.getByRole('button', { name: 'Tea' }).click()
  await message(hers, 'What should we order?').getByText('Lina').last().waitFor()
  await hers.getByRole('button', { name: 'Coffee' }).waitFor({ state: 'detached' })
  await send(hers, 'fill: How many guests are coming?')
  await hers.getByRole('spinbutton', { name: 'Guests' }).fill('12')
  await hers.getByLabel('Day').fill('2026-11-19')
  await hers.getByRole('region', { name: 'Ada asks' }).getByRole('button', { name: 'Submit' }).click()
  await message(hers, 'Guests: 12').waitFor()
  const { messages } = await lina!.client.messages.list(space.id)
  expect(messages.flatMap((each) => (each.tool ? [each.tool.output] : []))).toEqual([{ choice: 'Tea' }, { guests: 12, day: '2026-11-19' }])
})

test('the question of an MCP server names the server, and is answered or declined', async () => {
  const vera = await app.agent('Vera', { mcp: [{ name: 'trains', command: MCP_SERVER }] })
  await app.owner.client.spaces.add(space.id, { entityId: vera.id, role: 'member' })
  const hers = await app.open(lina!, `/spaces/${space.id}`)
  await send(hers, '@Vera use: trains__ask')
  const card = hers.getByRole('region', { name: 'Vera asks: Where do you want to sit?' })
  await card.getByText('trains (MCP server)').waitFor()
  expect(await card.getByRole('checkbox', { name: 'With breakfast' }).isChecked()).toBe(true)
  await card.getByRole('combobox', { name: 'Seat' }).selectOption('Window')
  await card.getByRole('button', { name: 'Submit' }).click()
  await card.getByText('Seat: Window · With breakfast: Yes').waitFor()
  await send(hers, '@Vera use: trains__ask')
  await card.last().getByRole('button', { name: 'Decline' }).click()
  await card.last().getByText('Declined').waitFor()
})

test('a form marks required fields, offers choices, and shows problems in plain words at their field', async () => {
  const fields = { release_name: { type: 'string' }, teams: { type: 'array', items: { enum: ['web', 'data'] } }, code: { type: 'string', pattern: '^[A-Z]{3}$' } }
  const execution = { resultSchema: { type: 'object', properties: fields, required: ['release_name', 'teams'] } }
  const iris = await app.agent('Iris', { tools: [{ name: 'fill', description: 'Asks.', type: 'space', ui: 'form', inputSchema: { type: 'object', properties: { question: { type: 'string' } } }, execution }] })
  await app.owner.client.spaces.add(space.id, { entityId: iris.id, role: 'member' })
  const hers = await app.open(lina!, `/spaces/${space.id}`)
  await send(hers, '@Iris fill: What is the plan?')
  const card = hers.getByRole('region', { name: 'Iris asks' })
  const name = card.getByRole('textbox', { name: 'Release name' })
  await name.waitFor()
  expect(await name.getAttribute('required')).not.toBeNull()
  await card.getByText('(optional)').waitFor()
  await card.getByRole('button', { name: 'Submit' }).click()
  await card.getByText('This field is required').waitFor()
  await card.getByText('Select at least one option').waitFor()
  await expect.poll(() => name.evaluate((field) => field === document.activeElement)).toBe(true)
  await name.fill('Spring')
  await card.getByRole('checkbox', { name: 'data' }).check()
  await card.getByRole('textbox', { name: 'Code' }).fill('nope')
  await card.getByRole('button', { name: 'Submit' }).click()
  const problem = card.getByRole('alert').filter({ visible: true })
  await problem.first().waitFor()
  expect(await card.getByRole('textbox', { name: 'Code' }).getAttribute('aria-invalid')).toBe('true')
  expect(await problem.count()).toBe(1)
  await card.getByRole('textbox', { name: 'Code' }).fill('ABC')
  await card.getByRole('button', { name: 'Submit' }).click()
  await card.getByRole('button', { name: 'Submit' }).waitFor({ state: 'detached' })
  const output = (await lina!.client.messages.list(space.id)).messages.find((each) => each.tool)?.tool?.output
  expect(output).toEqual({ release_name: 'Spring', teams: ['data'], code: 'ABC' })
})

test('the example app works', async () => {
  process.env['MAJLIS_URL'] = app.gateway.url
  const web = join(import.meta.dirname, '..')
  const server = await createServer({ root: join(web, 'examples'), configFile: join(web, 'app/vite.config.ts'), server: { host: '127.0.0.1', port: 0 }, logLevel: 'error' })
  try {
    await server.listen()
    const page = await app.open(lina!)
    await page.goto(server.resolvedUrls!.local[0]!)
    await page.getByRole('button', { name: /Project Alpha \(\d+\)/ }).last().click()
    await page.getByRole('textbox').fill('hold: One two three four five six seven eight nine ten.')
    await page.getByRole('textbox').press('Enter')
    await page.getByText('Lina hold: One two').waitFor()
    await page.locator('i', { hasText: 'One two' }).waitFor()
    app.model.release()
    await page.getByText('Ada One two three four five six seven eight nine ten.').waitFor()
  } finally {
    await server.close()
  }
})
