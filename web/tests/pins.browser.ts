/** Pinned messages. */
import type { Space } from '@majlis/client'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { act, message } from './harness/locators.ts'
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

test('A message is pinned from its menu, and others see it among the pins', async () => {
  await omar!.client.messages.post(space.id, { text: 'The deadline is Friday' })
  const page = await app.open(lina!, `/spaces/${space.id}`)
  const his = await app.open(omar!, `/spaces/${space.id}?inspect=pins`)
  await his.getByText('No pinned messages').waitFor()
  await act(page, message(page, 'The deadline is Friday'), 'Pin')
  await message(page, 'The deadline is Friday').getByText('Pinned', { exact: true }).waitFor()
  const pins = his.getByRole('list', { name: 'Pinned messages' })
  await pins.getByText('The deadline is Friday').waitFor()
  await pins.getByRole('button', { name: 'Unpin' }).click()
  await his.getByText('No pinned messages').waitFor()
  await expect.poll(() => page.getByText('Pinned', { exact: true }).count()).toBe(0)
})
