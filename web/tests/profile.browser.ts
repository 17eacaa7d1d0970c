/** The person's own profile: name, appearance, sessions. */
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { composer, message } from './harness/locators.ts'
import { png } from './harness/png.ts'
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

test('what a person chooses in one browser follows them to another, where it is also right at the first paint', async () => {
  const nour = await app.person('Nour')
  const [orchard, harbor] = [await app.space('Orchard', [nour]), await app.space('Harbor', [nour])]
  const first = await app.open(nour, `/spaces/${orchard.id}`)
  const second = await app.open(nour, `/spaces/${harbor.id}`)
  await Promise.all([composer(first).waitFor(), composer(second).waitFor()])
  const theme = (page: Page) => page.evaluate(() => document.documentElement.dataset['theme'])
  await first.getByRole('button', { name: 'Space options' }).click()
  await first.getByRole('menuitem', { name: 'Pin to top' }).click()
  await first.getByRole('button', { name: 'Space options' }).click()
  await first.getByRole('menuitemradio', { name: 'All messages' }).click()
  await first.getByRole('button', { name: /account menu/ }).click()
  await first.getByRole('menuitemradio', { name: 'Dark' }).click()
  await second.getByRole('list', { name: 'Pinned', exact: true }).getByText('Orchard').waitFor()
  await expect.poll(() => theme(second)).toBe('dark')
  await second.getByRole('navigation', { name: 'Spaces' }).getByText('Orchard').click()
  await second.getByRole('heading', { name: 'Orchard' }).waitFor()
  await second.getByRole('button', { name: 'Space options' }).click()
  await second.getByRole('menuitemradio', { name: 'All messages', checked: true }).waitFor()
  await second.keyboard.press('Escape')
  // The language too, which remounts the app.
  await second.getByRole('button', { name: /account menu/ }).click()
  await second.getByRole('menuitem', { name: 'Your profile' }).click()
  await second.getByRole('combobox', { name: 'Language' }).selectOption('ar')
  await expect.poll(() => first.evaluate(() => document.documentElement.dir)).toBe('rtl')
  // The reloaded page shows them before the server has answered.
  await first.route('**/api/**', () => {})
  await first.reload({ waitUntil: 'domcontentloaded' })
  await expect.poll(() => first.evaluate(() => document.documentElement.dir)).toBe('rtl')
  expect(await theme(first)).toBe('dark')
})

test('times and days are in the time zone that a person chose, in all their browsers', async () => {
  const rima = await app.person('Rima')
  const space = await app.space('Observatory', [rima])
  await rima.client.messages.post(space.id, { text: 'What time is it?' })
  const [first, second] = [await app.open(rima, `/spaces/${space.id}`), await app.open(rima, `/spaces/${space.id}`)]
  await Promise.all([message(first, 'What time is it?').waitFor(), message(second, 'What time is it?').waitFor()])
  const { createdAt } = (await rima.client.messages.list(space.id)).messages.at(-1)!
  const timeIn = (timeZone: string) => new Intl.DateTimeFormat('en', { timeStyle: 'short', timeZone }).format(new Date(createdAt))
  const choose = async (zone: string) => {
    await first.getByRole('button', { name: /account menu/ }).click()
    await first.getByRole('menuitem', { name: 'Your profile' }).click()
    await first.getByRole('combobox', { name: 'Time zone' }).selectOption(zone)
  }
  for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
    await choose(zone)
    for (const page of [first, second]) await message(page, 'What time is it?').getByText(timeIn(zone)).waitFor()
  }
  expect((await rima.client.preferences.get()).timeZone).toBe('Pacific/Pago_Pago')
  await choose('')
  await expect.poll(async () => (await rima.client.preferences.get()).timeZone).toBe(null)
})

test('another tab of the same browser follows, and the next person in it starts without the choices', async () => {
  const [amal, next] = [await app.person('Amal'), await app.person('Basel')]
  await app.space('Library', [amal, next])
  const first = await app.open(amal, '/')
  const second = await app.openTab(first.context())
  await second.goto('/')
  const theme = (page: Page) => page.evaluate(() => document.documentElement.dataset['theme'] ?? 'system')
  await Promise.all([first, second].map((page) => page.getByRole('button', { name: /account menu/ }).waitFor()))
  await first.getByRole('button', { name: /account menu/ }).click()
  await first.getByRole('menuitemradio', { name: 'Dark' }).click()
  await expect.poll(() => theme(second)).toBe('dark')
  await first.getByRole('button', { name: /account menu/ }).click()
  await first.getByRole('menuitem', { name: 'Your profile' }).click()
  await first.getByRole('combobox', { name: 'Language' }).selectOption('ar')
  await expect.poll(() => second.evaluate(() => document.documentElement.dir)).toBe('rtl')
  await expect.poll(async () => (await amal.client.preferences.get()).language).toBe('ar')
  await second.close()
  await first.context().clearCookies()
  await first.context().request.post('/api/session', { data: { token: next.token }, headers: { Origin: new URL(first.url()).origin } })
  await first.goto('/')
  await first.getByRole('button', { name: /account menu/ }).waitFor()
  await expect.poll(() => first.evaluate(() => document.documentElement.dir)).toBe('ltr')
  expect(await theme(first)).toBe('system')
  expect((await next.client.preferences.get()).revision).toBe(0)
})

test('a choice made without a connection is sent when it is back', async () => {
  const sami = await app.person('Sami')
  const space = await app.space('Quay', [sami])
  const page = await app.open(sami, `/spaces/${space.id}`)
  await composer(page).waitFor()
  await expect.poll(async () => (await sami.client.preferences.get()).revision).toBe(0)
  await page.route('**/api/me/preferences', (route) => route.abort())
  const failed = page.waitForEvent('requestfailed')
  await page.getByRole('button', { name: 'Space options' }).click()
  await page.getByRole('menuitem', { name: 'Mute' }).click()
  await failed
  await page.unroute('**/api/me/preferences')
  await page.reload()
  await expect.poll(async () => (await sami.client.preferences.get()).muted).toEqual([space.id])
  await page.getByRole('button', { name: 'Space options' }).click()
  await page.getByRole('menuitem', { name: 'Unmute' }).waitFor()
})

test('an own picture is shown wherever the person is, can be removed, and agents have one too', async () => {
  const huda = await app.person('Huda')
  const ada = await app.agent('Ada')
  const space = await app.space('Gallery', [huda, ada])
  await huda.client.messages.post(space.id, { text: 'from me' })
  const [mine, theirs] = [await app.open(huda, `/spaces/${space.id}`), await app.open(app.owner, `/spaces/${space.id}`)]
  const pictures = (page: Page, name: string) => page.getByRole('article', { name }).locator('img[src^="/api/pictures/"]')
  await message(theirs, 'from me').waitFor()
  expect(await pictures(theirs, 'Huda').count()).toBe(0)
  await mine.getByRole('button', { name: /account menu/ }).click()
  await mine.getByRole('menuitem', { name: 'Your profile' }).click()
  const upload = mine.getByLabel('Picture of Huda')
  await upload.setInputFiles({ name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('no picture') })
  await mine.getByRole('alert').getByText('Use a PNG, JPEG, GIF or WebP picture').waitFor()
  await upload.setInputFiles({ name: 'me.png', mimeType: 'image/png', buffer: png(120, 60) })
  await mine.getByRole('button', { name: 'Change picture' }).waitFor()
  await pictures(theirs, 'Huda').waitFor()
  await expect.poll(() => pictures(theirs, 'Huda').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(192)
  // Also on the button of the account menu, which the dialog hides from screen readers.
  await mine.locator('[aria-haspopup=menu] img[src^="/api/pictures/"]').waitFor()
  await mine.getByRole('button', { name: 'Remove picture' }).click()
  await mine.getByRole('button', { name: 'Upload picture' }).waitFor()
  await pictures(theirs, 'Huda').waitFor({ state: 'detached' })
  await mine.keyboard.press('Escape')
  await theirs.goto(`/admin/agents/${ada.id}`)
  await theirs.getByLabel('Picture of Ada').setInputFiles({ name: 'ada.png', mimeType: 'image/png', buffer: png(60, 60, [20, 90, 60]) })
  await theirs.getByRole('button', { name: 'Remove picture' }).waitFor()
  await ada.client.messages.post(space.id, { text: 'from Ada' })
  await message(mine, 'from Ada').waitFor()
  await pictures(mine, 'Ada, agent').waitFor()
})
