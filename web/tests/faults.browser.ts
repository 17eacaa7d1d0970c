/** What goes wrong in one place stays there: a bad message, a part that does not load, an address that is none, the next person at the browser. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { House, type Person } from './harness/testApp.ts'
import { composer, message, messages, say } from './harness/locators.ts'

let house: House
let lina: Person
beforeAll(async () => {
  house = await House.open()
  lina = await house.person('Lina')
})
afterAll(() => house.close())
afterEach(() => house.leaveAll())

const fill = (part: string) => part.repeat(Math.floor(60_000 / part.length))
const BAD: Record<string, string> = {
  'quotes in quotes': `${fill('>')} x`,
  'lists in lists': `${fill('- ')}x`,
  'lists in lists, often': fill(`${'- '.repeat(19)}x\n`),
  'a table that fills itself up': `|${'a|'.repeat(7000)}\n|${'-|'.repeat(7000)}\n${'|a|\n'.repeat(8000)}`,
  'emphasis without an end': fill('*a_ '),
  'links without an end': fill('[a]('),
  headings: fill('a\n=\n'),
  footnotes: `${fill('[^1]')}\n\n[^1]: x`,
}

test('no message takes the page away, or the time of those who read', async () => {
  const space = await house.space('Bad', [lina])
  for (const text of Object.values(BAD)) await house.owner.client.messages.post(space.id, { text })
  await house.owner.client.messages.post(space.id, { text: 'the end' })
  const page = await house.visit(lina, `/spaces/${space.id}`, { viewport: { width: 1000, height: 5000 } })
  await message(page, 'the end').waitFor()
  await expect.poll(() => messages(page).count()).toBe(Object.keys(BAD).length + 1)
  await say(page, 'still here')
  await expect.poll(async () => (await lina.client.messages.list(space.id)).messages.at(-1)!.text).toBe('still here')
  expect(house.complaints.splice(0)).toEqual([])
})

test('a part that cannot be loaded says so, and the rest goes on', async () => {
  const space = await house.space('Apart', [lina])
  const page = await house.visit(lina, `/spaces/${space.id}`)
  await composer(page).fill('half a sentence')
  // As after a new version of the gateway, which has other files.
  await page.route('**/assets/Inspector-*.js', (route) => route.fulfill({ status: 404 }))
  await page.getByRole('button', { name: 'Open the inspector' }).click()
  await page.getByRole('alert').getByText('This part could not be shown').waitFor()
  expect(await composer(page).inputValue()).toBe('half a sentence')
  await page.unroute('**/assets/Inspector-*.js')
  await page.getByRole('button', { name: 'Load the page again' }).click()
  await page.getByRole('complementary', { name: 'Inspector' }).waitFor()
  await expect.poll(() => composer(page).inputValue()).toBe('half a sentence')
  house.complaints.length = 0
})

test('an address that is none leads to a page that says so', async () => {
  const page = await house.visit(lina, '/spaces/%E0%A4%A')
  await page.getByText('There is no such space for you').waitFor()
  expect(house.complaints.splice(0)).toEqual([])
})

test('a link to a message that is not in the space says so, and shows the space', async () => {
  const space = await house.space('Astray', [lina])
  await house.owner.client.messages.post(space.id, { text: 'the only word' })
  const page = await house.visit(lina, `/spaces/${space.id}/messages/msg_nowhere`)
  await page.getByText('The message of this link is not in this space.').waitFor()
  await message(page, 'the only word').waitFor()
  expect(house.complaints.splice(0)).toEqual([])
})

test('what one person has written is neither shown to the next at the same browser nor sent in their name', async () => {
  const nour = await house.person('Nour')
  const space = await house.space('Shared', [lina, nour])
  const page = await house.visit(lina, `/spaces/${space.id}`)
  const paths = '**/api/spaces/*/messages'
  await page.route(paths, (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()))
  await say(page, 'only from Lina')
  await page.getByText('Waiting for a connection').waitFor()
  await composer(page).fill('a draft of Lina')
  const signIn = async (person: Person) => {
    await page.request.post('/api/session', { data: { token: person.token }, headers: { Origin: house.gateway.url } })
    await page.goto(`/spaces/${space.id}`)
    await composer(page).waitFor()
  }
  await page.unroute(paths)
  await signIn(nour)
  await page.getByText('Nothing has been said here yet').waitFor()
  expect(await composer(page).inputValue()).toBe('')
  await say(page, 'from Nour')
  await signIn(lina)
  await message(page, 'only from Lina').waitFor()
  await expect.poll(() => composer(page).inputValue()).toBe('a draft of Lina')
  const said = () => lina.client.messages.list(space.id).then((list) => list.messages.map((each) => `${each.sender.name}: ${each.text}`))
  await expect.poll(said).toEqual(['Nour: from Nour', 'Lina: only from Lina'])
})

test('who signs in in one tab is who speaks in all of them, and every tab shows it', async () => {
  const sami = await house.person('Sami')
  const space = await house.space('Two tabs', [lina, sami])
  const first = await house.visit(lina, `/spaces/${space.id}`)
  await composer(first).waitFor()
  await first.request.post('/api/session', { data: { token: sami.token }, headers: { Origin: house.gateway.url } })
  const second = await house.tab(first.context())
  await second.goto(`/spaces/${space.id}`)
  for (const page of [first, second]) await page.getByRole('button', { name: /^S?\s*Sami/ }).waitFor()
})
