import { join } from 'node:path'

import type { Space } from '@majlis/client'
import { createServer } from 'vite'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { House, type Person } from './harness/testApp.ts'
import { message, say, spaceRow } from './harness/locators.ts'

const TOOLS = [
  { name: 'approve', description: 'Asks for a yes.', type: 'space', ui: 'approval' },
  { name: 'choose', description: 'Asks which.', type: 'space', ui: 'choice', execution: { options: ['Tea', 'Coffee'] } },
  {
    name: 'fill', description: 'Asks for facts.', type: 'space', ui: 'form',
    inputSchema: { type: 'object', properties: { question: { type: 'string' } } },
    execution: { resultSchema: { type: 'object', properties: { guests: { type: 'integer', title: 'Guests' }, day: { type: 'string', format: 'date', title: 'Day' } }, required: ['guests', 'day'] } },
  },
]
let house: House
let [lina, omar, ada]: Person[] = []
let space: Space
beforeAll(async () => {
  house = await House.open()
  ;[lina, omar, ada] = [await house.person('Lina'), await house.person('Omar'), await house.agent('Ada', { tools: TOOLS })]
})
afterAll(() => house.close())
beforeEach(async () => {
  space = await house.space('Project Alpha', [lina!, omar!, ada!])
})
afterEach(async () => {
  await house.leaveAll()
  expect(house.complaints.splice(0)).toEqual([])
})

test('an approval is asked in every tab, decided once, and then known in all of them', async () => {
  const at = `/spaces/${space.id}`
  const [hers, his, elsewhere] = await Promise.all([house.visit(lina!, at), house.visit(omar!, at), house.visit(omar!, '/')])
  await say(hers, 'approve: May I send the invitations?')
  for (const page of [hers, his]) await page.getByRole('button', { name: 'Approve' }).waitFor()
  await spaceRow(elsewhere, 'Project Alpha').getByText('Ada waits for your decision').waitFor()
  await his.getByLabel('A word about it').fill('but not to the press')
  await his.getByRole('button', { name: 'Approve' }).click()
  for (const page of [hers, his]) {
    await message(page, 'May I send').getByText('Approved: “but not to the press”').waitFor()
    await message(page, 'May I send').getByText('Omar').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
  }
  await spaceRow(elsewhere, 'Project Alpha').getByText('waits for your decision').waitFor({ state: 'detached' })
  await hers.reload()
  await message(hers, 'May I send').getByText('Approved').waitFor()
})

test('a choice and a form are answered with what fits them', async () => {
  const hers = await house.visit(lina!, `/spaces/${space.id}`)
  await say(hers, 'choose: What shall we drink?')
  await hers.getByRole('button', { name: 'Tea' }).click()
  await message(hers, 'What shall we drink?').getByText('Lina').last().waitFor()
  await hers.getByRole('button', { name: 'Coffee' }).waitFor({ state: 'detached' })
  await say(hers, 'fill: Who comes?')
  await hers.getByLabel('Guests').fill('12')
  await hers.getByLabel('Day').fill('2026-11-19')
  await hers.getByRole('region', { name: 'Ada asks' }).getByRole('button', { name: 'Send' }).click()
  await message(hers, 'guests: 12').waitFor()
  const { messages } = await lina!.client.messages.list(space.id)
  expect(messages.flatMap((each) => (each.tool ? [each.tool.output] : []))).toEqual([{ choice: 'Tea' }, { guests: 12, day: '2026-11-19' }])
})

test('the example of forty lines is a chat that works', async () => {
  process.env['MAJLIS_URL'] = house.gateway.url
  const web = join(import.meta.dirname, '..')
  const server = await createServer({ root: join(web, 'examples'), configFile: join(web, 'app/vite.config.ts'), server: { host: '127.0.0.1', port: 0 }, logLevel: 'error' })
  try {
    await server.listen()
    const page = await house.visit(lina!)
    await page.goto(server.resolvedUrls!.local[0]!)
    await page.getByRole('button', { name: /Project Alpha \(\d+\)/ }).last().click()
    await page.getByRole('textbox').fill('hold: One two three four five six seven eight nine ten.')
    await page.getByRole('textbox').press('Enter')
    await page.getByText('Lina hold: One two').waitFor()
    await page.locator('i', { hasText: 'One two' }).waitFor()
    house.model.release()
    await page.getByText('Ada One two three four five six seven eight nine ten.').waitFor()
  } finally {
    await server.close()
  }
})
