/** Administration: webhooks, the last backup, and when people were last seen. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { composer, message } from './harness/locators.ts'
import { TestApp } from './harness/testApp.ts'

let app: TestApp
beforeAll(async () => {
  app = await TestApp.start({ MAJLIS_TOOL_PRIVATE_HOSTS: '127.0.0.1:9' })
})
afterAll(() => app.close())
afterEach(() => app.closePages())

test('an incoming webhook is added, posts a message, and is deleted', async () => {
  const space = await app.space('Releases')
  const page = await app.open(app.owner, '/admin/webhooks')
  const form = page.getByRole('form', { name: 'New incoming webhook' })
  await form.getByRole('textbox', { name: 'Name' }).fill('Build server')
  await form.getByRole('combobox', { name: 'Space' }).selectOption({ label: 'Releases' })
  await form.getByRole('combobox', { name: 'Check' }).selectOption('none')
  await form.getByRole('button', { name: 'Add incoming webhook' }).click()
  await page.getByText('The other program posts to this address').waitFor()
  const [hook] = await app.owner.client.incomingWebhooks.list()
  const posted = await page.request.post(new URL(hook!.url, app.gateway.url).href, { data: { text: 'Build 7 is green' } })
  expect(posted.ok()).toBe(true)
  const hooks = page.getByRole('region', { name: 'Incoming webhooks' })
  await hooks.getByText('Posts in Releases').waitFor()
  await hooks.getByRole('button', { name: 'Delete' }).click()
  await hooks.getByRole('button', { name: 'Yes, delete Build server' }).click()
  await hooks.getByText('None yet').waitFor()
  expect(await app.owner.client.incomingWebhooks.list()).toEqual([])
  await page.goto(`/spaces/${space.id}`)
  await message(page, 'Build 7 is green').waitFor()
  expect(app.pageErrors).toEqual([])
})

test('an outgoing webhook shows its secret once', async () => {
  await app.space('News')
  const page = await app.open(app.owner, '/admin/webhooks')
  const form = page.getByRole('form', { name: 'New outgoing webhook' })
  await form.getByRole('textbox', { name: 'Address' }).fill('http://10.0.0.9/')
  await form.getByRole('button', { name: 'Add outgoing webhook' }).click()
  await form.getByRole('alert').getByText(/10\.0\.0\.9/).waitFor()
  await form.getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:9/events')
  await form.getByRole('combobox', { name: 'Space' }).selectOption({ label: 'News' })
  await form.getByRole('combobox', { name: 'Events' }).selectOption('Messages')
  await form.getByRole('button', { name: 'Add outgoing webhook' }).click()
  await form.getByText('Copy the signing secret now').waitFor()
  await page.reload()
  const hooks = page.getByRole('region', { name: 'Outgoing webhooks' })
  await hooks.getByText('News · space.message').waitFor()
  await hooks.getByRole('button', { name: 'Deliveries' }).click()
  await hooks.getByText('No deliveries yet').waitFor()
  expect(await page.getByText('signing secret').count()).toBe(0)
})

test('administrators see who was there when, and that no backup was made', async () => {
  const [sami, nour] = [await app.person('Sami'), await app.person('Nour')]
  const space = await app.space('Backyard', [sami, nour])
  const his = await app.open(sami, `/spaces/${space.id}`)
  await composer(his).waitFor()
  await expect.poll(async () => (await app.owner.client.entities.get(sami.id)).lastSeenAt ?? null).not.toBe(null)
  await his.context().close()
  const page = await app.open(app.owner, '/admin/people')
  await page.getByText('No backup yet').waitFor()
  await page.getByRole('link', { name: /Nour/ }).getByText('Never signed in to the app').waitFor()
  await page.getByRole('link', { name: /Sami/ }).getByText(/Last seen|Online/).waitFor()
})
