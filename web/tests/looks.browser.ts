/** How the app looks: its language and direction, and the width of messages. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

import { speak } from './harness/screens.ts'
import { composer, message, spaceRow } from './harness/locators.ts'
import { TestApp, type Person } from './harness/testApp.ts'
import { t } from '../app/src/language/words.ts'

let app: TestApp
let lina: Person
beforeAll(async () => {
  app = await TestApp.start()
})
afterAll(() => app.close())
let people = 0
beforeEach(async () => {
  // Choices follow a person to the next page.
  lina = await app.person(`Lina ${++people}`)
})
afterEach(async () => {
  speak('en')
  await app.closePages()
  expect(app.pageErrors.splice(0)).toEqual([])
})

const direction = () => ({ lang: document.documentElement.lang, dir: document.documentElement.dir })

test('a language that is chosen in the profile is shown at once, stays after a reload, and is that of the sign-in page', async () => {
  const space = await app.space('Garden', [lina])
  const page = await app.open(lina, `/spaces/${space.id}`)
  await composer(page).fill('a draft')
  await page.getByRole('button', { name: /account menu/ }).click()
  await page.getByRole('menuitem', { name: 'Your profile' }).click()
  await page.getByRole('combobox', { name: 'Language' }).selectOption('العربية')
  speak('ar')
  const box = page.getByRole('textbox', { name: t('Message {name}', { name: 'Garden' }) })
  await expect.poll(() => box.inputValue()).toBe('a draft')
  expect(await page.evaluate(direction)).toEqual({ lang: 'ar', dir: 'rtl' })
  await page.reload()
  await box.waitFor()
  expect(await page.evaluate(direction)).toEqual({ lang: 'ar', dir: 'rtl' })
  await page.request.delete('/api/session', { headers: { Origin: app.gateway.url } })
  await page.goto('/')
  await page.getByRole('heading', { name: 'تسجيل الدخول إلى مجلس' }).waitFor()
  expect(await page.evaluate(direction)).toEqual({ lang: 'ar', dir: 'rtl' })
  await page.getByLabel('رمز الوصول').fill('mj_wrong')
  await page.getByRole('button', { name: 'تسجيل الدخول' }).click()
  await page.getByRole('alert').getByText('رمز الوصول هذا غير صالح').waitFor()
  await page.getByLabel('رمز الوصول').fill(lina.token)
  await page.getByRole('button', { name: 'تسجيل الدخول' }).click()
  await page.getByRole('navigation', { name: t('Spaces') }).waitFor()
})

test('names are aligned with the page, and a line that is too long loses its end, in any script', async () => {
  const arabic = await app.space('مشروع الحديقة', [lina])
  await app.owner.client.messages.post(arabic.id, { text: `${'كلمات عربية كثيرة '.repeat(20)}` })
  const latin = await app.space('Latin', [lina])
  await app.owner.client.messages.post(latin.id, { text: 'Plant the rosemary along the wall, where it has sun all day' })
  const edges = async (locale: string) => {
    const page = await app.open(lina, '/', { locale })
    const rows = page.locator('[data-space]')
    await rows.filter({ hasText: 'Plant the rosemary' }).waitFor()
    return rows.evaluateAll((all) =>
      all.map((row) => {
        const rtl = document.documentElement.dir === 'rtl'
        const box = row.getBoundingClientRect()
        const words = document.createRange()
        words.selectNodeContents(row.querySelector('bdi')!)
        const name = words.getBoundingClientRect()
        // Where the text begins, it is within the row: the ellipsis is at its end.
        const line = row.lastElementChild!.firstElementChild!
        words.selectNodeContents(line)
        const [text, room] = [words.getBoundingClientRect(), line.getBoundingClientRect()]
        const begins = getComputedStyle(line).direction === 'rtl' ? room.right - text.right : text.left - room.left
        return { gap: Math.round(rtl ? box.right - name.right : name.left - box.left), hidden: begins < -1 }
      }),
    )
  }
  for (const locale of ['en-US', 'ar-EG']) {
    const found = await edges(locale)
    expect(found.length).toBeGreaterThan(1)
    expect(new Set(found.map((each) => each.gap)).size, locale).toBe(1)
    expect(found.filter((each) => each.hidden), locale).toEqual([])
  }
})

test('wide messages use the whole width, until they are chosen away', async () => {
  const space = await app.space('Wide', [lina])
  await app.owner.client.messages.post(space.id, { text: 'word '.repeat(200) })
  const page = await app.open(lina, `/spaces/${space.id}`, { viewport: { width: 1600, height: 900 } })
  const width = async () => (await message(page, 'word word').boundingBox())!.width
  await message(page, 'word word').waitFor()
  const before = await width()
  const toggle = async () => {
    await page.getByRole('button', { name: /account menu/ }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Wide messages' }).click()
  }
  await toggle()
  await expect.poll(width).toBeGreaterThan(before * 1.5)
  await page.reload()
  await spaceRow(page, 'Wide').waitFor()
  await expect.poll(width).toBeGreaterThan(before * 1.5)
  await toggle()
  await expect.poll(width).toBe(before)
})
