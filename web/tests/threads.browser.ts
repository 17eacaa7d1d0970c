/** Replies: a reply shows its parent, the parent counts its replies, and the side panel shows the branch. */
import type { Message, Space } from '@majlis/client'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { composer, message, send, timeline } from './harness/locators.ts'
import { TestApp, type Person } from './harness/testApp.ts'

let app: TestApp
let [lina, omar]: Person[] = []
let space: Space
beforeAll(async () => {
  app = await TestApp.start()
  ;[lina, omar] = [await app.person('Lina'), await app.person('Omar')]
})
afterAll(() => app.close())
beforeEach(async () => {
  space = await app.space('Project Alpha', [lina!, omar!])
})
afterEach(async () => {
  await app.closePages()
  expect(app.pageErrors.splice(0)).toEqual([])
})
const post = (text: string, replyTo?: Message) => omar!.client.messages.post(space.id, { text, ...(replyTo ? { replyTo: replyTo.id } : {}) })

test('a parent counts its replies, which open as a branch; the timeline keeps its order', async () => {
  const question = await post('Which day suits you?')
  const other = await post('Something else')
  const answer = await post('Thursday', question)
  await post('At what time?', answer)
  await post('Not about the day', other)
  const page = await app.open(lina!, `/spaces/${space.id}`)
  await page.getByRole('group', { name: 'Messages' }).getByRole('article').filter({ hasText: 'Not about the day' }).waitFor()
  const before = await timeline(page)
  await page.getByRole('listitem').filter({ has: page.getByText('Which day suits you?', { exact: true }) }).getByRole('button', { name: '1 reply' }).first().click()
  const panel = page.getByRole('complementary')
  const replies = panel.getByRole('list', { name: 'Replies' }).getByRole('article')
  await expect.poll(() => replies.count()).toBe(2)
  await panel.getByText('2 replies').waitFor()
  expect(await panel.getByText('Not about the day').count()).toBe(0)
  expect((await timeline(page)).filter((row) => row !== 'New')).toEqual(before.filter((row) => row !== 'New'))
  // The parent is shown once, and the reply to a reply quotes that.
  await replies.nth(1).getByRole('link', { name: 'Omar Thursday' }).waitFor()
  // A reply that arrives is added, and Reply in the panel uses the composer.
  await post('Friday', question)
  await expect.poll(() => replies.count()).toBe(3)
  await replies.nth(2).hover()
  await replies.nth(2).getByRole('button', { name: 'Reply' }).click()
  await page.getByText('Replying to Omar: Friday').waitFor()
  await send(page, 'Friday it is')
  await expect.poll(() => replies.count()).toBe(4)
  await page.getByRole('listitem').filter({ has: page.getByText('Which day suits you?', { exact: true }) }).getByRole('button', { name: '2 replies' }).first().waitFor()
})

test('the branch of an old message has all replies, also those that the timeline has not loaded', async () => {
  const question = await post('The very first question')
  await post('An early answer', question)
  for (let n = 0; n < 150; n += 10) await Promise.all(Array.from({ length: 10 }, (_, k) => post(`line ${n + k}`)))
  await post('A late answer', question)
  const page = await app.open(lina!, `/spaces/${space.id}/messages/${question.id}`)
  const row = page.getByRole('listitem').filter({ has: page.getByText('The very first question', { exact: true }) }).first()
  await row.getByRole('button', { name: '1+ replies' }).click()
  const replies = page.getByRole('complementary').getByRole('list', { name: 'Replies' })
  await replies.getByText('An early answer').waitFor()
  await replies.getByText('A late answer').waitFor()
  await page.getByRole('complementary').getByText('2 replies').waitFor()
  await composer(page).waitFor()
  await message(page, 'A late answer').first().waitFor()
})
