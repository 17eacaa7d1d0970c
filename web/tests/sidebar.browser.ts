/** The sidebar: sections, unread messages and mentions, archived spaces, and a stable order. */
import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { composer, spaceRow } from './harness/locators.ts'
import { TestApp } from './harness/testApp.ts'

let app: TestApp
beforeAll(async () => {
  app = await TestApp.start()
})
afterAll(() => app.close())
afterEach(() => app.closePages())

const sidebar = (page: Page): Locator => page.getByRole('navigation', { name: 'Spaces' })
const rows = (page: Page, section: string): Promise<string[]> =>
  sidebar(page).getByRole('list', { name: section, exact: true }).locator('[data-space] > span:first-child > bdi').evaluateAll((names) => names.map((name) => name.textContent))

async function choose(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: 'Space options' }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

test('spaces stand in sections, and mentions are told apart from other unread messages', async () => {
  const lina = await app.person('Lina')
  const [calm, busy, kept] = [await app.space('Calm', [lina]), await app.space('Busy', [lina]), await app.space('Kept', [lina])]
  const direct = await app.owner.client.spaces.openDirect(lina.id)
  const page = await app.open(lina, `/spaces/${kept.id}`)
  await choose(page, 'Pin to top')
  await app.owner.client.messages.post(calm.id, { text: 'hello' })
  for (const text of ['one', '@Lina two', 'three']) await app.owner.client.messages.post(busy.id, { text })
  await app.owner.client.messages.post(direct.id, { text: 'just you' })
  const names = async () => ({ pinned: await rows(page, 'Pinned'), direct: await rows(page, 'Direct'), spaces: await rows(page, 'Spaces') })
  await expect.poll(names).toEqual({ pinned: ['Kept'], direct: ['Owner'], spaces: ['Busy', 'Calm'] })
  const check = async () => {
    await spaceRow(page, 'Busy').getByText('@1 mention of you').waitFor()
    await spaceRow(page, 'Busy').getByText('3 unread').waitFor()
    await spaceRow(page, 'Calm').getByText('1 unread').waitFor()
    expect(await spaceRow(page, 'Calm').getByText('mention').count()).toBe(0)
  }
  await check()
  // The server knows it too.
  await page.reload()
  await check()
  await spaceRow(page, 'Busy').click()
  await spaceRow(page, 'Busy').getByText('mention').waitFor({ state: 'detached' })
})

test('a space with a question to the user moves to the top until it is answered', async () => {
  const omar = await app.person('Omar')
  const ada = await app.agent('Ada', { tools: [{ name: 'approve', description: 'Asks for approval.', type: 'space', ui: 'approval' }] })
  const [asking, other] = [await app.space('Launch', [omar, ada]), await app.space('Other', [omar])]
  const page = await app.open(omar, `/spaces/${other.id}`)
  await app.owner.client.messages.post(asking.id, { text: '@Ada approve: May I?' })
  await expect.poll(() => rows(page, 'Waiting for you')).toEqual(['Launch'])
  await spaceRow(page, 'Launch').click()
  await page.getByRole('button', { name: 'Approve' }).click()
  await expect.poll(() => rows(page, 'Spaces')).toEqual(['Launch', 'Other'])
})

test('an archived space is folded away and not counted, and the order by name is stable', async () => {
  const nour = await app.person('Nour')
  const spaces = await Promise.all(['Cedar', 'Aleppo pine', 'Birch'].map((name) => app.space(name, [nour])))
  const page = await app.open(nour, `/spaces/${spaces[0]!.id}`)
  await composer(page).waitFor()
  await page.getByRole('button', { name: /account menu/ }).click()
  await page.getByRole('menuitemradio', { name: 'By name' }).click()
  await expect.poll(() => rows(page, 'Spaces')).toEqual(['Aleppo pine', 'Birch', 'Cedar'])
  await app.owner.client.messages.post(spaces[2]!.id, { text: 'newest' })
  await spaceRow(page, 'Birch').getByText('newest').waitFor()
  expect(await rows(page, 'Spaces')).toEqual(['Aleppo pine', 'Birch', 'Cedar'])
  await expect.poll(() => page.title()).toBe('(1) Cedar · Majlis')
  await spaceRow(page, 'Birch').click()
  await page.getByRole('heading', { name: 'Birch' }).waitFor()
  await choose(page, 'Archive')
  await expect.poll(() => rows(page, 'Spaces')).toEqual(['Aleppo pine', 'Cedar'])
  await spaceRow(page, 'Cedar').click()
  await page.getByRole('heading', { name: 'Cedar' }).waitFor()
  await app.owner.client.messages.post(spaces[2]!.id, { text: 'in the archive' })
  await app.owner.client.messages.post(spaces[1]!.id, { text: 'counted' })
  await expect.poll(() => page.title()).toBe('(1) Cedar · Majlis')
  await sidebar(page).getByText('Archived (1)').click()
  await spaceRow(page, 'Birch').click()
  await choose(page, 'Unarchive')
  await expect.poll(() => rows(page, 'Spaces')).toEqual(['Aleppo pine', 'Birch', 'Cedar'])
})
