import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { message, send, spaceRow } from './harness/locators.ts'
import { TestApp } from './harness/testApp.ts'

const KEY = 'team-key-0123456789'

let app: TestApp
beforeAll(async () => {
  app = await TestApp.start({ MAJLIS_DEMO: 'true' })
  app.model.needKey(KEY)
  // With only one space, the app opens it instead of Home.
  await app.space('Project Alpha')
})
afterAll(() => app.close())
afterEach(async () => {
  await app.closePages()
  expect(app.pageErrors.splice(0)).toEqual([])
})

test('J8: a pasted key connects a model, the demo agents use it at once, and new agents propose it', async () => {
  const page = await app.open(app.owner)
  await page.getByRole('link', { name: /Connect a model/ }).click()
  await page.getByRole('combobox', { name: 'Provider' }).selectOption('Another server (OpenAI-compatible)')
  await page.getByRole('textbox', { name: 'Address' }).fill(app.model.url)
  const key = page.getByLabel('API key')
  await key.fill('a-wrong-key-0123456789')
  await page.getByRole('button', { name: 'Show models' }).click()
  const alert = page.getByRole('alert').filter({ hasText: 'rejected this key' })
  await alert.getByText('The server says: Incorrect API key provided').waitFor()

  await key.fill(KEY)
  await page.getByRole('button', { name: 'Show models' }).click()
  await page.getByText('1 model found').waitFor()
  expect(await page.getByRole('combobox', { name: 'Model' }).inputValue()).toBe('scripted')
  await page.getByRole('button', { name: 'Test' }).click()
  await page.getByText('“Hello from the test.”').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()

  const connected = page.getByRole('list', { name: 'Connected models' })
  await connected.getByText('Default for new agents').waitFor()
  expect(await page.content()).not.toContain(KEY)
  await page.getByRole('button', { name: 'Use scripted for Nadim and Rawi' }).click()
  await page.getByText('Nadim and Rawi now use scripted.').waitFor()
  await connected.getByRole('link', { name: 'Nadim' }).waitFor()

  await spaceRow(page, 'Lobby').click()
  await send(page, '@Nadim say: I think with a real model now.')
  await message(page, 'I think with a real model now.').filter({ hasText: 'Nadim' }).last().waitFor()

  await page.goto('/admin/agents')
  await page.getByText('New agents use openai:scripted.').waitFor()
  await page.getByRole('textbox', { name: 'Name' }).fill('Scout')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('tab', { name: 'Model' }).click()
  expect(await page.getByRole('combobox', { name: 'Connected model' }).inputValue()).toBe('scripted')

  // Its agents must get another model before it can go.
  await page.goto('/admin/models')
  await page.getByRole('button', { name: 'Remove scripted' }).click()
  await page.getByRole('button', { name: 'Yes, remove scripted' }).click()
  await page.getByRole('alert').filter({ hasText: 'use this model. Give them another one first.' }).waitFor()
})
