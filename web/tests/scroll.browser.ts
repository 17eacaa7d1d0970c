import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { composer, message, send } from './harness/locators.ts'
import { TestApp, type Person } from './harness/testApp.ts'

const COUNT = 10_000
let app: TestApp
let [lina, omar, ada]: Person[] = []
let at = ''
let spaceId = ''
beforeAll(async () => {
  app = await TestApp.start()
  ;[lina, omar, ada] = [await app.person('Lina'), await app.person('Omar'), await app.agent('Ada')]
  const space = await app.space('Long talk', [lina!, omar!])
  spaceId = space.id
  at = `/spaces/${spaceId}`
  await app.gateway.fillHistory(spaceId, omar!.id, COUNT)
  const last = (await lina!.client.messages.list(spaceId, { limit: 1 })).messages[0]!
  await lina!.client.spaces.read(spaceId, last.id)
  await app.owner.client.spaces.add(spaceId, { entityId: ada!.id, role: 'member' })
})
afterAll(() => app.close())

const scroller = (page: Page) => page.getByRole('group', { name: 'Messages' })
const distanceToBottom = (page: Page) => scroller(page).evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight)
const scrollBy = (page: Page, pixels: number) => scroller(page).evaluate((box, by) => box.scrollBy(0, by), pixels)
/** Remembers the message in the middle of the window. The returned function measures how many pixels it has moved since. */
async function watchMiddle(page: Page): Promise<() => Promise<number>> {
  const row = await scroller(page).evaluateHandle((box) => {
    const middle = box.getBoundingClientRect().top + box.clientHeight / 2
    const away = (each: Element) => Math.abs(each.getBoundingClientRect().top - middle)
    return [...box.querySelectorAll('article')].reduce((best, each) => (away(each) < away(best) ? each : best))
  })
  const top = () => row.evaluate((each) => (each.isConnected ? each.getBoundingClientRect().top : Infinity))
  const before = await top()
  return async () => Math.abs((await top()) - before)
}
/** Holds back the next earlier page, so that the test can look at the list while it loads. */
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

/** Scrolls up until the streaming message is below the window but still rendered. */
async function scrollUpPast(page: Page, stream: Locator) {
  const row = await stream.elementHandle()
  await scroller(page).evaluate((box, below) => box.scrollBy(0, below!.getBoundingClientRect().top - innerHeight - 50), row)
}

/** Resolves when the messages on screen have not moved for five frames: all rows are measured. */
const settled = (page: Page) =>
  scroller(page).evaluate((box) => new Promise<void>((resolve) => {
    let [last, stable] = ['', 0]
    const check = () => {
      const tops = [...box.querySelectorAll('article')].map((row) => Math.round(row.getBoundingClientRect().top)).filter((top) => top > 0 && top < innerHeight)
      stable = tops.join() === last ? stable + 1 : 0
      last = tops.join()
      if (stable < 5) requestAnimationFrame(check)
      else resolve()
    }
    check()
  }))

describe('a long history', () => {
  test('opens at the bottom, and loading earlier pages does not move the visible messages', async () => {
    const page = await app.open(lina!, at)
    await scroller(page).getByRole('article').last().waitFor()
    await expect.poll(() => distanceToBottom(page)).toBeLessThan(3)
    for (let n = 0; n < 3; n++) {
      const held = await holdEarlier(page)
      await scroller(page).evaluate((box) => (box.scrollTop = 300))
      await held.asked
      await settled(page)
      const moved = await watchMiddle(page)
      await held.release()
      await expect.poll(() => scroller(page).evaluate((box) => box.scrollTop)).toBeGreaterThan(1000)
      await settled(page)
      expect(await moved()).toBeLessThan(3)
    }
    expect(await page.getByRole('article').count()).toBeLessThan(60)
    await page.getByRole('button', { name: /Jump to latest/ }).click()
    await expect.poll(() => distanceToBottom(page)).toBeLessThan(3)
    await app.closePages()
  })

  test('sticks to the bottom while an agent writes, and keeps its place after the reader scrolls up', async () => {
    const page = await app.open(lina!, at)
    await scroller(page).getByRole('article').last().waitFor()
    const stream = page.locator('[data-stream]')
    const written = () => stream.innerText().then((text) => text.length)
    const moreIsWritten = async () => {
      const before = await written()
      await expect.poll(written).toBeGreaterThan(before + 300)
    }
    // The agent writes until the test releases it.
    await send(page, 'write: Many words are written here.')
    await stream.waitFor()
    await moreIsWritten()
    await expect.poll(() => distanceToBottom(page)).toBeLessThan(3)
    await scrollUpPast(page, stream)
    await settled(page)
    expect(await distanceToBottom(page)).toBeGreaterThan(100)
    const moved = await watchMiddle(page)
    await moreIsWritten()
    expect(await moved()).toBeLessThan(3)
    app.model.release()
    await stream.waitFor({ state: 'detached' })
    await settled(page)
    expect(await moved()).toBeLessThan(3)
    await page.getByRole('button', { name: /Jump to latest/ }).click()
    await expect.poll(() => distanceToBottom(page)).toBeLessThan(3)
    await message(page, 'Many words are written here.').last().waitFor()
    await app.closePages()
  })

  test('stays at the bottom when the composer grows', async () => {
    const page = await app.open(lina!, at)
    const last = scroller(page).getByRole('article').last()
    await last.waitFor()
    await expect.poll(() => distanceToBottom(page)).toBeLessThan(3)
    const height = () => scroller(page).evaluate((box) => box.clientHeight)
    const before = await height()
    await composer(page).fill('one\n'.repeat(9))
    await expect.poll(height).toBeLessThan(before - 100)
    await expect.poll(() => distanceToBottom(page)).toBeLessThan(3)
    await settled(page)
    expect(await page.getByRole('button', { name: /Jump to latest/ }).count()).toBe(0)
    await composer(page).fill('')
    await app.closePages()
  })

  test.each([['never read', 0], ['read in part', 30]])('at most one click leads to the first unread message of a space %s', async (_, read) => {
    const space = await app.space(`New ${read}`, [lina!])
    await app.gateway.fillHistory(space.id, omar!.id, 160)
    const newest = await lina!.client.messages.list(space.id, { limit: 100 })
    const { messages: oldest } = await lina!.client.messages.list(space.id, { limit: 100, before: newest.messages[0]!.id })
    if (read > 0) await lina!.client.spaces.read(space.id, oldest[read - 1]!.id)
    const page = await app.open(lina!, `/spaces/${space.id}`)
    // A space that was read in part opens at the first unread message.
    if (read === 0) await page.getByRole('button', { name: /Jump to first unread/ }).click()
    const first = scroller(page).getByRole('listitem').filter({ hasText: `line ${read}.` }).first()
    await first.waitFor()
    await expect.poll(() => first.evaluate((row) => row.getBoundingClientRect().top)).toBeGreaterThan(0)
    await scroller(page).getByText('New', { exact: true }).waitFor()
    await app.closePages()
    await app.owner.client.spaces.delete(space.id)
  })

  test('the selected search result is always visible', async () => {
    const page = await app.open(lina!, at, { viewport: { width: 1000, height: 500 } })
    await scroller(page).getByRole('article').last().waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search' }).fill('line')
    const options = page.getByRole('option')
    await expect.poll(() => options.count()).toBeGreaterThan(15)
    for (let n = 0; n < 15; n++) await page.keyboard.press('ArrowDown')
    const chosen = page.getByRole('option', { selected: true })
    const seen = () => chosen.evaluate((row) => {
      const { top, bottom, left } = row.getBoundingClientRect()
      return [top + 5, bottom - 5].every((y) => row.contains(document.elementFromPoint(left + 20, y)))
    })
    await expect.poll(seen).toBe(true)
    expect(app.pageErrors).toEqual([])
  })

  test('a search result opens in the middle of the history, with a way back to the latest message', async () => {
    const page = await app.open(lina!, at)
    await scroller(page).getByRole('article').last().waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search' }).fill('"line 107"')
    await page.getByRole('option', { name: /^line 107\./ }).first().click()
    await expect.poll(() => message(page, 'line 107.').isVisible()).toBe(true)
    // In small steps that skip no row, until the later pages are loaded.
    const down = async () => {
      await scrollBy(page, 1000)
      await settled(page)
      return message(page, 'line 320.').count()
    }
    await expect.poll(down, { timeout: 30_000, interval: 1 }).toBe(1)
    await page.getByRole('button', { name: 'Jump to latest' }).click()
    await expect.poll(() => distanceToBottom(page)).toBeLessThan(3)
    expect(app.pageErrors).toEqual([])
  })
})
