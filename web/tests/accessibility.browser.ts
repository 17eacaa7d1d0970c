import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { composer, message, messages, spaceRow } from './harness/locators.ts'
import { LOOKS, makeScene, SCREENS, SIGNED_OUT, speak, type Scene } from './harness/screens.ts'
import { TestApp } from './harness/testApp.ts'

let app: TestApp
let scene: Scene
beforeAll(async () => {
  app = await TestApp.start()
  scene = await makeScene(app)
})
afterAll(() => app.close())
afterEach(async () => {
  speak('en')
  await app.closePages()
  expect(app.pageErrors.splice(0)).toEqual([])
})

/** Violations of WCAG A and AA and of best practices, including contrast. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(async () => {
    const { axe: injected } = window as unknown as { axe: typeof axe }
    const result = await injected.run(document, { resultTypes: ['violations'] })
    return result.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 120)).join(' | ')}`)
  })
}

// Together they have both languages, both modes and the widest and the narrowest screen.
const CHECKED = LOOKS.filter(({ name }) => process.env['MAJLIS_TEST_THOROUGH'] || ['en light 1440', 'ar dark 390'].includes(name))

test.each(CHECKED)('axe finds no violations on any screen: $name', { timeout: 400_000 }, async ({ language, options }) => {
  speak(language)
  const page = await app.open(scene.lina, '/page/icon.svg', options)
  // No drafts of earlier screens.
  await page.addInitScript(() => localStorage.clear())
  const found: string[] = []
  for (const screen of SCREENS) {
    await page.goto(screen.path(scene))
    await screen.ready(page, scene)
    found.push(...(await problems(page)).map((each) => `${screen.name}: ${each}`))
  }
  const visitor = await (await app.signedOut(options)).newPage()
  for (const { name, path } of SIGNED_OUT) {
    await visitor.goto(path(scene))
    found.push(...(await problems(visitor)).map((each) => `${name}: ${each}`))
  }
  await visitor.context().close()
  expect(found).toEqual([])

  async function problems(shown: Page): Promise<string[]> {
    const { direction, over } = await shown.evaluate(() => {
      const { lang, dir, scrollWidth, clientWidth } = document.documentElement
      return { direction: `${lang} ${dir}`, over: scrollWidth - clientWidth }
    })
    return [
      ...(await violations(shown)),
      ...(direction === (language === 'ar' ? 'ar rtl' : 'en ltr') ? [] : [`it says ${direction}`]),
      ...(over > 0 ? [`it is ${over} px wider than the screen`] : []),
    ]
  }
})

test.each(['light', 'dark'] as const)('axe finds no violations while an agent writes and an upload fails, in %s mode', async (colorScheme) => {
  const page = await app.open(scene.lina, `/spaces/${scene.project.id}`, { colorScheme, viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' })
  await composer(page).waitFor()
  await scene.startWriting()
  await page.locator('[data-stream]').getByText('the checks are written').waitFor()
  await page.route('**/api/spaces/*/files', (route) => route.abort())
  await page.getByLabel('Files to attach').setInputFiles([{ name: 'late.txt', mimeType: 'text/plain', buffer: Buffer.from('y') }])
  await page.getByRole('list', { name: 'Files to send' }).getByRole('alert').waitFor()
  expect(await violations(page)).toEqual([])
  app.model.release()
  await page.locator('[data-stream]').waitFor({ state: 'detached' })
})

test('a phone shows one column that fits the screen', async () => {
  const page = await app.open(scene.lina, '/', { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true })
  await spaceRow(page, 'Project Alpha').tap()
  await messages(page).first().waitFor()
  await expect.poll(() => spaceRow(page, 'Project Alpha').isVisible()).toBe(false)
  expect(await composer(page).isVisible()).toBe(true)
  const widths = () => page.evaluate(() => [document.documentElement.scrollWidth, ...[...document.querySelectorAll('header, form, article')].map((each) => Math.ceil(each.getBoundingClientRect().right))])
  expect(Math.max(...(await widths()))).toBeLessThanOrEqual(360)
  // A tap shows the actions of a message.
  const last = message(page, 'Let’s keep Thursday then')
  await last.tap()
  await last.getByRole('button', { name: 'Reply' }).tap()
  await page.getByText('Replying to Lina').waitFor()
  await page.getByRole('button', { name: 'Cancel reply' }).tap()
  await page.getByRole('button', { name: /members/ }).tap()
  await page.getByRole('complementary').getByRole('heading', { name: 'People' }).waitFor()
  expect(Math.max(...(await widths()))).toBeLessThanOrEqual(360)
  await page.getByRole('button', { name: 'Close inspector' }).last().tap()
  await page.getByRole('button', { name: 'All spaces' }).tap()
  await spaceRow(page, 'Project Alpha').waitFor()
})
