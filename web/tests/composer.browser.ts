/** Commands, emoji and formatting in the composer, and the actions of messages that use them. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { act, composer, message, send } from './harness/locators.ts'
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
afterEach(() => app.closePages())

test('a command is found with /, runs with Enter, and a path is sent as it is', async () => {
  const space = await app.space('Commands', [lina, omar])
  const page = await app.open(lina, `/spaces/${space.id}`)
  await composer(page).pressSequentially('/')
  const list = page.getByRole('listbox', { name: 'Commands' })
  await list.getByRole('option', { name: /^\/files/ }).waitFor()
  await composer(page).pressSequentially('mem')
  await expect.poll(() => list.getByRole('option').allTextContents()).toEqual(['/membersShow the members'])
  await page.keyboard.press('Enter')
  await page.getByRole('complementary').getByText('People').waitFor()
  expect(await composer(page).inputValue()).toBe('')
  await send(page, '/etc/passwd')
  await message(page, '/etc/passwd').waitFor()
  await send(page, '/pin')
  await page.getByRole('list', { name: 'Pinned' }).getByText('Commands').waitFor()
  await composer(page).pressSequentially('/mess')
  await page.keyboard.press('Tab')
  await composer(page).pressSequentially('Omar')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Omar' }).waitFor()
  expect((await lina.client.messages.list(space.id)).messages.map((each) => each.text)).toEqual(['/etc/passwd'])
  expect(app.pageErrors).toEqual([])
})

test('an emoji is inserted by its name or from the picker, and words are formatted', async () => {
  const space = await app.space('Emoji', [lina])
  const page = await app.open(lina, `/spaces/${space.id}`)
  await composer(page).pressSequentially('well done :party')
  await page.getByRole('listbox', { name: 'Emoji' }).getByRole('option').first().waitFor()
  await page.keyboard.press('Enter')
  expect(await composer(page).inputValue()).toBe('well done 🥳 ')
  await page.getByRole('button', { name: 'Insert emoji' }).click()
  await page.getByRole('searchbox', { name: 'Search emoji' }).fill('rocket')
  await page.getByRole('button', { name: 'rocket' }).click()
  await expect.poll(() => composer(page).inputValue()).toBe('well done 🥳 🚀')
  await page.getByRole('button', { name: 'Show formatting' }).click()
  await composer(page).evaluate((box: HTMLTextAreaElement) => box.setSelectionRange(0, 4))
  await page.getByRole('toolbar', { name: 'Formatting' }).getByRole('button', { name: 'Bold' }).click()
  await expect.poll(() => composer(page).inputValue()).toBe('**well** done 🥳 🚀')
  await composer(page).press('Enter')
  await message(page, 'well done 🥳 🚀').locator('strong').getByText('well').waitFor()
  // The choice is kept.
  await page.reload()
  await page.getByRole('toolbar', { name: 'Formatting' }).waitFor()
  expect(app.pageErrors).toEqual([])
})

test('a message gets any reaction from the picker beside it', async () => {
  const space = await app.space('Reactions', [lina, omar])
  await omar.client.messages.post(space.id, { text: 'We did it' })
  const page = await app.open(lina, `/spaces/${space.id}`)
  await message(page, 'We did it').hover()
  await message(page, 'We did it').getByRole('button', { name: 'React' }).click()
  await page.getByRole('button', { name: 'trophy' }).click()
  await message(page, 'We did it').getByRole('button', { name: '🏆 1' }).waitFor()
})

test('the person who asked has an answer generated again; others have no such action', async () => {
  const ada = await app.agent('Ada')
  const space = await app.space('Answers', [lina, omar, ada])
  const [hers, his] = [await app.open(lina, `/spaces/${space.id}`), await app.open(omar, `/spaces/${space.id}`)]
  await send(hers, '@Ada say: The door is green.')
  const answer = his.getByRole('article', { name: 'Ada, agent' })
  await answer.getByText('The door is green.').waitFor()
  await answer.hover()
  await answer.getByRole('button', { name: 'More actions' }).click()
  await his.getByRole('menuitem', { name: 'View run' }).waitFor()
  expect(await his.getByRole('menuitem', { name: 'Regenerate' }).count()).toBe(0)
  // The run ends a moment after its message.
  await expect.poll(async () => (await lina.client.runs.list({ spaceId: space.id })).runs.map((run) => run.status)).toEqual(['completed'])
  await act(hers, hers.getByRole('article', { name: 'Ada, agent' }), 'Regenerate')
  await hers.getByText('Deleted by Lina').waitFor()
  await expect.poll(async () => (await lina.client.messages.list(space.id)).messages.map((each) => each.text)).toEqual(['@Ada say: The door is green.', '', 'The door is green.'])
  await hers.getByRole('article').filter({ hasText: 'The door is green.' }).nth(1).waitFor()
})
