/** Editing, deleting and reacting (L1, L2, L3). */
import type { Space } from '@majlis/client'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { act, composer, message, send } from './harness/locators.ts'
import { TestApp, type Person } from './harness/testApp.ts'

let app: TestApp
let [lina, omar]: Person[] = []
let space: Space
beforeAll(async () => {
  app = await TestApp.start()
  ;[lina, omar] = [await app.person('Lina'), await app.person('Omar')]
  space = await app.space('Project Alpha', [lina!, omar!])
})
afterAll(() => app.close())
afterEach(async () => {
  await app.closePages()
  expect(app.pageErrors.splice(0)).toEqual([])
})

test('L1: Arrow-Up edits the last own message, and others see the new text', async () => {
  const page = await app.open(lina!, `/spaces/${space.id}`)
  const his = await app.open(omar!, `/spaces/${space.id}`)
  await send(page, 'See you on Monday')
  await message(page, 'See you on Monday').waitFor()
  // A message that is still on its way cannot be edited yet.
  await expect.poll(async () => {
    await composer(page).press('ArrowUp')
    return page.getByText('Editing your message').count()
  }).toBe(1)
  await composer(page).fill('See you on Friday')
  await composer(page).press('Enter')
  await message(his, 'See you on Friday').getByText('Edited').waitFor()
  await expect.poll(() => composer(page).inputValue()).toBe('')
})

test('L2: deleting asks once and can be undone before it is sent', async () => {
  const page = await app.open(lina!, `/spaces/${space.id}`)
  const his = await app.open(omar!, `/spaces/${space.id}`)
  await send(page, 'Forget this word')
  await message(page, 'Forget this word').waitFor()
  await act(page, message(page, 'Forget this word'), 'Delete')
  await page.getByRole('menuitem', { name: 'Yes, delete message' }).click()
  await page.getByRole('button', { name: 'Undo' }).click()
  await message(page, 'Forget this word').waitFor()
  await act(page, message(page, 'Forget this word'), 'Delete')
  await page.getByRole('menuitem', { name: 'Yes, delete message' }).click()
  await his.getByText('Deleted by Lina').waitFor()
  // Not even for screen readers, to which it was announced.
  await expect.poll(() => his.getByText('Forget this word').count()).toBe(0)
})

test('L3: a reaction from the menu is shown to others, who add theirs with a click', async () => {
  const page = await app.open(lina!, `/spaces/${space.id}`)
  const his = await app.open(omar!, `/spaces/${space.id}`)
  await omar!.client.messages.post(space.id, { text: 'It is done' })
  await act(page, message(page, 'It is done'), 'React with 🎉')
  await his.getByRole('button', { name: '🎉 1' }).click()
  await page.getByRole('button', { name: '🎉 2' }).waitFor()
})
