/** The person's own profile: name, appearance, sessions. */
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

test('an administrator changes their name, and a theme chosen in the profile is kept', async () => {
  const lina = await app.person('Lina')
  await app.owner.client.entities.change(lina.id, { role: 'admin' })
  const space = await app.space('Garden', [lina])
  const page = await app.open(lina, `/spaces/${space.id}`)
  await composer(page).waitFor()
  await page.getByRole('button', { name: /account menu/ }).click()
  await page.getByRole('menuitem', { name: 'Your profile' }).click()
  const dialog = page.getByRole('dialog', { name: 'Your profile' })
  await dialog.getByLabel('Name').fill('Owner')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('alert').getByText('is taken').waitFor()
  await dialog.getByLabel('Name').fill('Lina Haddad')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' })
  expect((await lina.client.me()).name).toBe('Lina Haddad')
  await dialog.getByRole('radio', { name: 'Dark' }).check()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /Lina Haddad\s*, account menu/ }).waitFor()
  await page.reload()
  await composer(page).waitFor()
  expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark')
})

test('a member sees their sessions and ends the one of another browser', async () => {
  const omar = await app.person('Omar')
  await app.space('Kitchen', [omar])
  const [here, elsewhere] = [await app.open(omar, '/'), await app.open(omar, '/')]
  await composer(elsewhere).waitFor()
  await here.getByRole('button', { name: /account menu/ }).click()
  await here.getByRole('menuitem', { name: 'Your profile' }).click()
  const dialog = here.getByRole('dialog', { name: 'Your profile' })
  expect(await dialog.getByLabel('Name').isDisabled()).toBe(true)
  const sessions = dialog.getByRole('list', { name: 'Tokens, sessions and links' }).getByRole('listitem').filter({ hasText: 'Browser session' })
  await expect.poll(() => sessions.count()).toBe(2)
  await sessions.filter({ hasNotText: 'this session' }).getByRole('button', { name: 'End' }).click()
  await expect.poll(() => sessions.count()).toBe(1)
  await elsewhere.getByLabel('Your token').waitFor()
  app.pageErrors.length = 0
})
