/**
 * Screenshots, written to the folder MAJLIS_SCREENSHOTS.
 * Every screen: make web ARGS="screenshots -t every". One look: -t "ar dark 390". The images of the README: -t README.
 */
import { join } from 'node:path'

import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { sampleData } from './harness/sampleData.ts'
import { LOOKS, makeScene, SCREENS, SIGNED_OUT, speak } from './harness/screens.ts'
import { TestApp } from './harness/testApp.ts'

const FOLDER = process.env['MAJLIS_SCREENSHOTS']
/** Names of screens, for a look at a few of them. */
const ONLY = process.env['MAJLIS_SCREENSHOTS_ONLY']?.split(',')

describe.runIf(FOLDER)('screenshots', () => {
  let app: TestApp
  beforeEach(async () => {
    app = await TestApp.start()
  })
  afterEach(async () => {
    speak('en')
    expect(app.pageErrors).toEqual([])
    await app.close()
  })
  const take = (page: Page, name: string) => page.screenshot({ path: join(FOLDER!, `${name}.png`) })

  test('the README: a space in which an agent is writing', async () => {
    const { lina, project, startWriting } = await sampleData(app)
    const looks = ['light', 'dark'] as const
    const open = (colorScheme: (typeof looks)[number]) =>
      app.open(lina, `/spaces/${project.id}`, { colorScheme, reducedMotion: 'reduce', viewport: { width: 1280, height: 800 } })
    const pages = await Promise.all(looks.map(open))
    await startWriting()
    for (const [n, page] of pages.entries()) {
      await page.getByText('the checks are written').waitFor()
      await take(page, looks[n]!)
    }
  })

  test.each(LOOKS)('every screen: $name', { timeout: 600_000 }, async ({ name, language, options }) => {
    speak(language)
    const data = await makeScene(app)
    const wanted = ONLY ? SCREENS.filter((each) => ONLY.includes(each.name)) : SCREENS
    const page = await app.open(data.lina, '/', options)
    // No drafts of earlier screens.
    await page.addInitScript(() => localStorage.clear())
    for (const screen of wanted) {
      await page.goto(screen.path(data))
      await screen.ready(page, data).catch((error: Error) => console.error(`${screen.name}: ${error.message}`))
      await take(page, `${screen.name} ${name}`)
    }
    const visitor = await (await app.signedOut(options)).newPage()
    for (const { name: screen, path } of SIGNED_OUT) {
      await visitor.goto(path(data))
      await take(visitor, `${screen} ${name}`)
    }
  })
})
