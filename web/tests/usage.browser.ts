/** Usage and budgets, and the steps of a run. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { TestApp, type Person } from './harness/testApp.ts'

let app: TestApp
let ada: Person
beforeAll(async () => {
  app = await TestApp.start()
  ada = await app.agent('Ada', { tools: [{ name: 'look', type: 'static', visible: true, description: 'Looks.', inputSchema: { type: 'object', properties: {} }, execution: { output: 'a door' } }] })
})
afterAll(() => app.close())
afterEach(() => app.closePages())

test('budgets are added, changed, limited to an agent and removed in place', async () => {
  const page = await app.open(app.owner, '/admin/usage')
  const kept = async () => (await app.owner.client.budgets.list()).budgets.map(({ scope, id, usd, tokens }) => ({ scope, id, usd, tokens }))
  await page.getByRole('button', { name: 'Add budget' }).click()
  await page.getByRole('spinbutton', { name: 'USD of budget 1' }).fill('12.5')
  await page.getByRole('button', { name: 'Save budgets' }).click()
  await expect.poll(kept).toEqual([{ scope: 'gateway', id: undefined, usd: 12.5, tokens: undefined }])
  await page.getByText('$0.00 of $12.50 spent').waitFor()
  await page.getByRole('button', { name: 'Add budget' }).click()
  await page.getByRole('combobox', { name: 'Budget 2 for' }).selectOption('agent')
  await page.getByRole('combobox', { name: 'Budget 2 for which: Agent' }).selectOption({ label: 'Ada' })
  await page.getByRole('spinbutton', { name: 'Tokens of budget 2' }).fill('5000')
  await page.getByRole('button', { name: 'Undo changes' }).click()
  await page.getByRole('combobox', { name: 'Budget 2 for' }).waitFor({ state: 'detached' })
  await page.getByRole('combobox', { name: 'Budget 1 for' }).selectOption('agent')
  await page.getByRole('combobox', { name: 'Budget 1 for which: Agent' }).selectOption({ label: 'Ada' })
  await page.getByRole('button', { name: 'Save budgets' }).click()
  await expect.poll(kept).toEqual([{ scope: 'agent', id: ada.id, usd: 12.5, tokens: undefined }])
  await page.getByRole('button', { name: 'Remove budget 1' }).click()
  await page.getByRole('button', { name: 'Save budgets' }).click()
  await expect.poll(kept).toEqual([])
  await page.getByText('No budgets.').waitFor()
})

test('the steps of a run and the runs of a space can be filtered', async () => {
  const space = await app.space('Steps', [ada])
  await app.owner.client.messages.post(space.id, { text: 'use: look' })
  await app.owner.client.messages.post(space.id, { text: 'fail: no key' })
  await expect.poll(async () => (await app.owner.client.runs.list({ spaceId: space.id })).runs.map((run) => run.status).toSorted()).toEqual(['completed', 'failed'])
  const page = await app.open(app.owner, `/spaces/${space.id}?inspect=runs`)
  const panel = page.getByRole('complementary', { name: 'Inspector' })
  await expect.poll(() => panel.getByRole('button', { name: /^Ada/ }).count()).toBe(2)
  await panel.getByRole('combobox', { name: 'Status' }).selectOption('failed')
  await expect.poll(() => panel.getByRole('button', { name: /^Ada/ }).count()).toBe(1)
  await panel.getByRole('combobox', { name: 'Status' }).selectOption('ended')
  await panel.getByRole('button', { name: /^Ada completed/ }).click()
  const steps = panel.getByRole('list').filter({ hasText: 'look' }).getByRole('listitem')
  await expect.poll(() => steps.count()).toBe(3)
  await panel.getByRole('button', { name: 'Tools', exact: true }).click()
  await expect.poll(() => steps.allTextContents().then((texts) => texts.map((text) => text.startsWith('look')))).toEqual([true])
  expect(app.pageErrors).toEqual([])
})
