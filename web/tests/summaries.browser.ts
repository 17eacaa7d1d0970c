/** The summaries that agents are shown, beside the messages that they stand for. */
import { afterAll, expect, test } from 'vitest'

import { message } from './harness/locators.ts'
import { Model } from './harness/processes.ts'
import { TestApp } from './harness/testApp.ts'

let close = async (): Promise<void> => {}
afterAll(() => close())

test('a summary leads to its messages', async () => {
  const model = await Model.start()
  const app = await TestApp.start({ MAJLIS_SUMMARY_MODEL: JSON.stringify({ provider: 'openai', name: 'scripted', baseUrl: model.url }) })
  close = async () => void (await Promise.all([app.close(), model.close()]))
  const [lina, ada] = [await app.person('Lina'), await app.agent('Ada', { window: 10 })]
  const space = await app.space('Project Alpha', [lina, ada], { triggers: 'mentioned' })
  for (let n = 1; n <= 40; n++) await lina.client.messages.post(space.id, { text: `message ${n}.` })
  await lina.client.messages.post(space.id, { text: '@Ada say: done' })
  await expect.poll(async () => (await lina.client.spaces.summaries(space.id)).summaries.length, { timeout: 20_000 }).toBe(1)
  const page = await app.open(lina, `/spaces/${space.id}?inspect=settings`)
  const summaries = page.getByRole('region', { name: 'Summaries' })
  await summaries.getByText('They planned the release.').waitFor()
  await summaries.getByRole('link', { name: 'Messages 1–25' }).click()
  await message(page, 'message 1.').first().waitFor()
  await summaries.getByText('They planned the release.').waitFor()
  expect(app.pageErrors.splice(0)).toEqual([])
})
