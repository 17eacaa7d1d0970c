/** An administrator invites people, who choose a name and are signed in (G15). */
import axe from 'axe-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { composer } from './harness/locators.ts'
import { TestApp } from './harness/testApp.ts'

let app: TestApp
beforeAll(async () => {
  app = await TestApp.start()
})
afterAll(() => app.close())
afterEach(async () => {
  await app.closePages()
  expect(app.pageErrors.splice(0)).toEqual([])
})

test('G15: from Home to a new person in the space, and an ended link no longer works', async () => {
  const space = await app.space('Garden')
  await app.space('Elsewhere')
  const page = await app.open(app.owner, '/')
  await page.getByRole('button', { name: 'Invite people' }).click()
  const dialog = page.getByRole('dialog', { name: 'Invite people' })
  await dialog.getByRole('combobox', { name: 'Space', exact: true }).selectOption('Garden')
  await dialog.getByRole('combobox', { name: 'Works for' }).selectOption('5 people')
  await dialog.getByRole('button', { name: 'Create link' }).click()
  await dialog.getByRole('img', { name: 'QR code of the invite' }).waitFor()
  const link = await dialog.locator('code').innerText()
  expect(link).toContain(`${app.gateway.url}/invite/mi_`)
  await dialog.getByText('Member · 0 of 5 joined').waitFor()

  const guest = await app.openTab(await app.signedOut())
  await guest.goto(link)
  await guest.evaluate(axe.source)
  const { violations } = await guest.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run())
  expect(violations.map((each) => each.id)).toEqual([])
  await guest.getByLabel('Your name').fill('owner')
  await guest.getByRole('button', { name: 'Join' }).click()
  await guest.getByRole('alert').getByText('is taken').waitFor()
  await guest.getByLabel('Your name').fill('Sara')
  await guest.getByRole('button', { name: 'Join' }).click()
  await composer(guest).waitFor()
  expect(new URL(guest.url()).pathname).toBe(`/spaces/${space.id}`)
  await guest.context().close()

  await dialog.getByRole('button', { name: 'End' }).click()
  await dialog.getByText('Active invites').waitFor({ state: 'detached' })
  const late = await app.openTab(await app.signedOut())
  await late.goto(link)
  await late.getByRole('heading', { name: 'This invite no longer works' }).waitFor()
  await late.context().close()
})

test('G15: a person with an account joins with it; who may not invite sees no button', async () => {
  const space = await app.space('Kitchen')
  const invite = await app.owner.client.invites.create(space.id)
  const omar = await app.person('Omar')
  const his = await app.open(omar, new URL(invite.url).pathname)
  await his.getByText('You are signed in as Omar').waitFor()
  await his.getByRole('button', { name: 'Join' }).click()
  await composer(his).waitFor()
  await app.owner.client.spaces.add(space.id, { entityId: omar.id, role: 'admin' })
  await his.goto(`/spaces/${space.id}?inspect=members`)
  await his.getByLabel('Add member').waitFor()
  expect(await his.getByRole('button', { name: 'Invite people' }).count()).toBe(0)
  const page = await app.open(app.owner, `/spaces/${space.id}?inspect=members`)
  await page.getByRole('button', { name: 'Invite people' }).click()
  await page.getByRole('dialog', { name: 'Invite people' }).getByRole('button', { name: 'Create link' }).waitFor()
})
