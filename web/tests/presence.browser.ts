/** Presence and typing of people. */
import { afterAll, beforeAll, expect, test } from 'vitest'

import { composer, message, send } from './harness/locators.ts'
import { TestApp, type Person } from './harness/testApp.ts'

let app: TestApp
let lina: Person
let omar: Person
beforeAll(async () => {
  app = await TestApp.start()
  lina = await app.person('Lina')
  omar = await app.person('Omar')
})
afterAll(() => app.close())

test('people see who of their space is online, and who is typing until the message is there', async () => {
  const space = await app.space('Project Alpha', [lina, omar])
  const hers = await app.open(lina, `/spaces/${space.id}?inspect=members`)
  const row = hers.getByRole('complementary').getByRole('listitem').filter({ hasText: 'Omar' })
  await row.waitFor()
  expect(await row.getByTitle('Online').count()).toBe(0)
  const his = await app.open(omar, `/spaces/${space.id}`)
  await row.getByTitle('Online').waitFor()
  // A direct conversation shows it in the sidebar.
  await omar.client.spaces.openDirect(lina.id)
  await hers.getByRole('list', { name: 'Direct' }).getByRole('link', { name: /Omar/ }).getByTitle('Online').waitFor()
  const typing = hers.getByText('Omar is typing')
  await composer(his).waitFor()
  // Each key tells it again, if the last time is a while ago: presence reaches his page first.
  await expect.poll(async () => {
    await composer(his).press('a')
    return typing.isVisible()
  }).toBe(true)
  await send(his, 'here it is')
  await message(hers, 'here it is').waitFor()
  await typing.waitFor({ state: 'detached' })
  await his.context().close()
  await row.getByTitle('Online').waitFor({ state: 'detached' })
  expect(app.pageErrors).toEqual([])
})
