/** W10: what a person types answers the open question of an agent. */
import type { Space } from '@majlis/client'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { composer, message, send } from './harness/locators.ts'
import { TestApp, type Person } from './harness/testApp.ts'

let app: TestApp
let [lina, omar, ada]: Person[] = []
let space: Space
beforeAll(async () => {
  app = await TestApp.start()
  ;[lina, omar, ada] = [await app.person('Lina'), await app.person('Omar'), await app.agent('Ada')]
})
beforeEach(async () => {
  space = await app.space('Project Alpha', [lina!, omar!, ada!])
})
afterAll(() => app.close())
afterEach(async () => {
  await app.closePages()
  expect(app.pageErrors.splice(0)).toEqual([])
})

test('W10: the composer replies to the question until it is answered', async () => {
  const page = await app.open(lina!, `/spaces/${space.id}`)
  await send(page, 'ask: Blue or green?')
  await page.getByText('Replying to Ada: Blue or green?').waitFor()
  await send(page, 'green')
  await message(page, 'green').last().getByRole('link', { name: /Ada Blue or green/ }).waitFor()
  await page.getByText('Replying to Ada').waitFor({ state: 'detached' })
})

test('W10: another person’s answer ends it, and a dismissed question does not come back', async () => {
  const page = await app.open(lina!, `/spaces/${space.id}`)
  await omar!.client.messages.post(space.id, { text: 'ask: Tea or coffee?' })
  await page.getByText('Replying to Ada: Tea or coffee?').waitFor()
  await omar!.client.messages.post(space.id, { text: 'Tea.' })
  await page.getByText('Replying to Ada').waitFor({ state: 'detached' })
  await omar!.client.messages.post(space.id, { text: 'ask: Now or later?' })
  await page.getByText('Replying to Ada: Now or later?').waitFor()
  await page.getByRole('button', { name: 'Cancel reply' }).click()
  await page.getByText('Replying to Ada').waitFor({ state: 'detached' })
  await send(page, 'Something else')
  await message(page, 'Something else').waitFor()
  expect(await message(page, 'Something else').getByRole('link', { name: /Ada Now or later/ }).count()).toBe(0)
})

test('W10: a question does not take over a message that is being written', async () => {
  const page = await app.open(lina!, `/spaces/${space.id}`)
  await composer(page).fill('I am still writing')
  await omar!.client.messages.post(space.id, { text: 'ask: Red or yellow?' })
  await page.getByRole('list', { name: 'Active agents' }).getByText('Ada is waiting for a reply').waitFor()
  await message(page, 'Red or yellow?').last().waitFor()
  expect(await page.getByText('Replying to Ada').count()).toBe(0)
})
