/** Direct conversations: opened beside a name, listed under a heading of their own. */
import type { Space } from '@majlis/client'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { act, composer, message, send } from './harness/locators.ts'
import { TestApp, type Person } from './harness/testApp.ts'

let app: TestApp
let [lina, omar, ada]: Person[] = []
let space: Space
beforeAll(async () => {
  app = await TestApp.start()
  ;[lina, omar, ada] = [await app.person('Lina'), await app.person('Omar'), await app.agent('Ada')]
  space = await app.space('Project Alpha', [lina!, omar!, ada!])
})
afterAll(() => app.close())
afterEach(async () => {
  await app.closePages()
  expect(app.pageErrors.splice(0)).toEqual([])
})

test('L8: Message in the menu of a message opens the conversation, which the other finds under Direct', async () => {
  await omar!.client.messages.post(space.id, { text: 'Who has the key?' })
  const page = await app.open(lina!, `/spaces/${space.id}`)
  await act(page, message(page, 'Who has the key?'), 'Message Omar')
  await page.getByRole('heading', { name: 'Omar', level: 2 }).waitFor()
  await composer(page).waitFor()
  await send(page, 'I have it.')
  const his = await app.open(omar!, '/')
  await his.getByRole('list', { name: 'Direct' }).getByRole('link', { name: /^Lina/ }).click()
  await message(his, 'I have it.').waitFor()
})

test('L8: Message in the list of members opens the conversation with an agent, which answers without a mention', async () => {
  app.model.interpret({ 'two plus two': 'say: Four.' })
  const page = await app.open(lina!, `/spaces/${space.id}?inspect=members`)
  await page.getByRole('button', { name: 'Message Ada' }).click()
  await page.getByRole('heading', { name: 'Ada', level: 2 }).waitFor()
  await send(page, 'two plus two')
  await message(page, 'Four.').waitFor()
  await page.getByRole('heading', { name: 'Direct', level: 2 }).waitFor()
})
