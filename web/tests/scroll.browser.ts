import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { House, type Person } from './harness/testApp.ts'
import { composer, message, say } from './harness/locators.ts'

const COUNT = 10_000
let house: House
let [lina, omar, ada]: Person[] = []
let at = ''
let spaceId = ''
beforeAll(async () => {
  house = await House.open()
  ;[lina, omar, ada] = [await house.person('Lina'), await house.person('Omar'), await house.agent('Ada')]
  const space = await house.space('Long talk', [lina!, omar!])
  spaceId = space.id
  at = `/spaces/${spaceId}`
  await house.gateway.fill(spaceId, omar!.id, COUNT)
  const last = (await lina!.client.messages.list(spaceId, { limit: 1 })).messages[0]!
  await lina!.client.spaces.read(spaceId, last.id)
  await house.owner.client.spaces.add(spaceId, { entityId: ada!.id, role: 'member' })
})
afterAll(() => house.close())

const scroller = (page: Page) => page.getByRole('group', { name: 'Messages' })
const distanceFromEnd = (page: Page) => scroller(page).evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)
const scrollBy = (page: Page, pixels: number) => scroller(page).evaluate((box, by) => box.scrollBy(0, by), pixels)
/** The message in the middle of the window, and where it stands. */
const inTheMiddle = (page: Page) =>
  scroller(page).evaluate((box) => {
    const middle = box.getBoundingClientRect().top + box.clientHeight / 2
    const rows = [...box.querySelectorAll('article')].map((row) => ({ text: row.innerText.slice(0, 60), top: row.getBoundingClientRect().top }))
    return rows.reduce((best, row) => (Math.abs(row.top - middle) < Math.abs(best.top - middle) ? row : best))
  })
/** The next page upward comes when the test says so: between its asking and its coming nothing else moves. */
async function holdEarlier(page: Page) {
  let go = () => {}
  const gate = new Promise<void>((resolve) => (go = resolve))
  const asked = page.waitForRequest(/before=/)
  await page.route(/before=/, async (route) => {
    await gate
    await route.continue()
  }, { times: 1 })
  return {
    asked,
    release: async () => {
      const came = page.waitForResponse(/before=/)
      go()
      await came
    },
  }
}

const settled = (page: Page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))

describe('a long history', () => {
  test('begins at the end, loads upward, and what is read stays where it is', async () => {
    const page = await house.visit(lina!, at)
    await scroller(page).getByRole('article').last().waitFor()
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(3)
    for (let n = 0; n < 3; n++) {
      const held = await holdEarlier(page)
      await scroller(page).evaluate((box) => (box.scrollTop = 300))
      await held.asked
      await settled(page)
      const before = await inTheMiddle(page)
      await held.release()
      await expect.poll(() => scroller(page).evaluate((box) => box.scrollTop)).toBeGreaterThan(1000)
      await settled(page)
      const after = await inTheMiddle(page)
      expect(after.text).toBe(before.text)
      expect(Math.abs(after.top - before.top), before.text).toBeLessThan(3)
    }
    expect(await page.getByRole('article').count()).toBeLessThan(60)
    await page.getByRole('button', { name: /Newest/ }).click()
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(3)
    await house.leaveAll()
  })

  test('stays where one reads while an agent writes below, and follows at the end', async () => {
    const page = await house.visit(lina!, at)
    await scroller(page).getByRole('article').last().waitFor()
    await say(page, `hold: ${'Many words are said here. '.repeat(60)}`)
    await page.locator('[data-stream]').getByText('Many words').waitFor()
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(3)
    await scrollBy(page, -1500)
    await settled(page)
    const before = await inTheMiddle(page)
    house.model.release()
    await page.getByRole('button', { name: /new|Newest/i }).last().waitFor()
    await expect.poll(async () => (await lina!.client.messages.list(spaceId, { limit: 1 })).messages[0]!.sender.name).toBe('Ada')
    await settled(page)
    const after = await inTheMiddle(page)
    expect(after.text).toBe(before.text)
    expect(Math.abs(after.top - before.top)).toBeLessThan(3)
    await house.leaveAll()
  })

  test('stays at the end when the place for it gets smaller: the composer grows', async () => {
    const page = await house.visit(lina!, at)
    const last = scroller(page).getByRole('article').last()
    await last.waitFor()
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(3)
    const height = () => scroller(page).evaluate((box) => box.clientHeight)
    const before = await height()
    await composer(page).fill('one\n'.repeat(9))
    await expect.poll(height).toBeLessThan(before - 100)
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(3)
    await settled(page)
    expect(await page.getByRole('button', { name: /Newest/ }).count()).toBe(0)
    await composer(page).fill('')
    await house.leaveAll()
  })

  test.each([['never read before', 0], ['read up to some word', 30]])('more new than is at hand, in a space %s: one press leads to the first of it', async (_, read) => {
    const space = await house.space(`New ${read}`, [lina!])
    await house.gateway.fill(space.id, omar!.id, 160)
    const newest = await lina!.client.messages.list(space.id, { limit: 100 })
    const { messages: oldest } = await lina!.client.messages.list(space.id, { limit: 100, before: newest.messages[0]!.id })
    if (read > 0) await lina!.client.spaces.read(space.id, oldest[read - 1]!.id)
    const page = await house.visit(lina!, `/spaces/${space.id}`)
    await page.getByRole('button', { name: /to the first unread/ }).click()
    const first = scroller(page).getByRole('listitem').filter({ hasText: `line ${read}.` }).first()
    await first.waitFor()
    await expect.poll(() => first.evaluate((row) => row.getBoundingClientRect().top)).toBeGreaterThan(0)
    await scroller(page).getByText('New', { exact: true }).waitFor()
    await house.leaveAll()
    await house.owner.client.spaces.delete(space.id)
  })

  test('what the keys choose among much that was found is in sight', async () => {
    const page = await house.visit(lina!, at, { viewport: { width: 1000, height: 500 } })
    await scroller(page).getByRole('article').last().waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Find' }).fill('line')
    const options = page.getByRole('option')
    await expect.poll(() => options.count()).toBeGreaterThan(15)
    for (let n = 0; n < 15; n++) await page.keyboard.press('ArrowDown')
    const chosen = page.getByRole('option', { selected: true })
    const seen = () => chosen.evaluate((row) => {
      const { top, bottom, left } = row.getBoundingClientRect()
      return [top + 5, bottom - 5].every((y) => row.contains(document.elementFromPoint(left + 20, y)))
    })
    await expect.poll(seen).toBe(true)
    expect(house.complaints).toEqual([])
  })

  test('a search leads into the middle of it, and down again to the newest', async () => {
    const page = await house.visit(lina!, at)
    await scroller(page).getByRole('article').last().waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Find' }).fill('"line 107"')
    await page.getByRole('option', { name: /^line 107\./ }).first().click()
    await expect.poll(() => message(page, 'line 107.').isVisible()).toBe(true)
    // In steps that leave out no row, and for as long as the pages below take to come.
    const down = async () => {
      await scrollBy(page, 1000)
      await settled(page)
      return message(page, 'line 320.').count()
    }
    await expect.poll(down, { timeout: 30_000, interval: 1 }).toBe(1)
    await page.getByRole('button', { name: 'To the newest' }).click()
    await message(page, 'Many words are said here').last().waitFor()
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(3)
    expect(house.complaints).toEqual([])
  })
})
