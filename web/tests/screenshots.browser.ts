/**
 * Screenshots, written to the folder MAJLIS_SCREENSHOTS.
 * Every page: make web ARGS="screenshots -t every". The images of the README: make web ARGS="screenshots -t README".
 */
import { join } from 'node:path'

import type { Page } from 'playwright-core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { act, composer, message } from './harness/locators.ts'
import { cards, sampleData } from './harness/sampleData.ts'
import { TestApp } from './harness/testApp.ts'

const FOLDER = process.env['MAJLIS_SCREENSHOTS']

describe.runIf(FOLDER)('screenshots', () => {
  let app: TestApp
  beforeEach(async () => {
    app = await TestApp.start()
  })
  afterEach(async () => {
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

  test('every page', async () => {
    const { lina, project, startWriting } = await sampleData(app)
    await app.owner.client.entities.change(lina.id, { role: 'admin' })
    const at = `/spaces/${project.id}`
    const still = { reducedMotion: 'reduce' } as const
    const light = await app.open(lina, at, { ...still, colorScheme: 'light', viewport: { width: 1280, height: 800 } })
    const dark = await app.open(lina, at, { ...still, colorScheme: 'dark', viewport: { width: 1280, height: 800 } })
    const phone = await app.open(lina, at, { viewport: { width: 360, height: 640 }, deviceScaleFactor: 2, hasTouch: true })
    const wide = await app.open(lina, at, { viewport: { width: 1440, height: 900 } })
    await startWriting()
    for (const page of [light, dark, phone, wide]) await page.getByText('the checks are written').waitFor()
    await take(light, 'light')
    await take(dark, 'dark')
    await take(phone, 'phone')
    await phone.getByRole('button', { name: 'All spaces' }).click()
    await take(phone, 'phone-spaces')
    await wide.getByRole('button', { name: 'Open inspector' }).click()
    await wide.getByRole('complementary').getByRole('button', { name: /Scout/ }).waitFor()
    await take(wide, 'runs')
    app.model.release()
    await wide.getByRole('article').getByText('last look at the rollback').waitFor()
    await wide.getByRole('complementary').getByRole('button', { name: /Scout/ }).first().click()
    await wide.getByRole('button', { name: 'Show prompt' }).click()
    await wide.getByText('SPACE HISTORY').first().click()
    await take(wide, 'prompt')
    await wide.getByRole('button', { name: 'Members', exact: true }).click()
    await wide.getByText('Idle').first().waitFor()
    await take(wide, 'members')
    await composer(light).fill('@')
    await light.getByRole('option').first().waitFor()
    await take(light, 'mention')
    await light.keyboard.press('Control+k')
    await light.getByRole('combobox', { name: 'Search' }).fill('launch')
    await light.getByRole('option').nth(1).waitFor()
    await take(light, 'switcher')
    await light.keyboard.press('Escape')
    await light.keyboard.press('Control+i')
    await composer(light).fill('')
    await light.getByRole('button', { name: 'Menu' }).click()
    await take(light, 'menu')
    await light.keyboard.press('Escape')
    await light.keyboard.press('?')
    await light.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await take(light, 'keyboard')
    await light.keyboard.press('Escape')
    await light.getByRole('button', { name: 'New space' }).click()
    await light.getByRole('dialog', { name: 'New space' }).waitFor()
    await take(light, 'new-space')
    await light.keyboard.press('Escape')
    await message(light, 'The docs are ready').hover()
    await act(light, message(light, 'The docs are ready'), 'Read by')
    await light.getByRole('dialog', { name: 'Read by' }).getByText('No agents').waitFor()
    await take(light, 'read-by')
    await light.keyboard.press('Escape')
    const empty = await app.space('Book club', [lina])
    const build = await app.owner.client.entities.create({ type: 'service', name: 'Build server' })
    const pages = [
      ['empty', `/spaces/${empty.id}`, 'Only you and Owner'],
      ['welcome', '/', 'Welcome to Majlis'],
      ['person', `/admin/people/${lina.id}`, 'Sign-in and tokens'],
      ['service', `/admin/people/${build.id}`, 'Send an event'],
      ['spaces', '/admin/spaces', 'Only a space’s own admins'],
      ['no-access', '/spaces/spc_0000000000000000', 'You don’t have access'],
    ] as const
    for (const [name, path, text] of pages) {
      await light.goto(path)
      await light.getByRole('main').getByText(text).waitFor()
      if (name === 'service') await light.getByRole('button', { name: 'Create token' }).click()
      if (name === 'service') await light.getByText('Copy this token now').waitFor()
      if (name === 'spaces') await light.getByRole('main').getByText('Project Alpha').first().click()
      await take(light, name)
    }
    await light.goto('/admin/people')
    await light.getByText('Add person').waitFor()
    await take(light, 'people')
    await light.goto('/admin/agents')
    await light.getByRole('main').getByRole('link', { name: /Ada/ }).click()
    await light.getByRole('textbox', { name: 'Instructions' }).waitFor()
    await take(light, 'agent')
    await light.getByRole('tab', { name: 'Tools' }).click()
    await light.getByRole('button', { name: 'Add rule' }).click()
    await light.getByRole('textbox', { name: 'Tools for rule 1' }).fill('deploy')
    await light.getByRole('button', { name: 'Show prompt' }).click()
    await light.getByText('SPACE HISTORY').first().click()
    await light.getByText('SPACE HISTORY').first().scrollIntoViewIfNeeded()
    await take(light, 'try')
    const cardsAt = `/spaces/${await cards(app, lina)}`
    for (const [page, name] of [[wide, 'cards'], [dark, 'cards-dark'], [phone, 'cards-phone']] as const) {
      await page.goto(cardsAt)
      await page.getByRole('button', { name: 'Approve' }).waitFor()
      await page.getByRole('button', { name: 'Retry' }).waitFor({ state: 'attached' })
      await take(page, name)
    }
    const iris = (await app.owner.client.agents.list()).find((agent) => agent.name === 'Iris')!
    await wide.goto(`${cardsAt}?inspect=${iris.id}`)
    await wide.getByText('No memories').waitFor()
    await take(wide, 'agent-details')
    await wide.goto(`${cardsAt}?inspect=settings`)
    await wide.getByText('Which agents respond').waitFor()
    await take(wide, 'settings')
    await phone.goto(`${cardsAt}?inspect=members`)
    await phone.getByText('People').waitFor()
    await take(phone, 'phone-members')
    const signInPage = await (await app.signedOut()).newPage()
    await signInPage.goto('/')
    await take(signInPage, 'sign-in')
  })
})
