/** Pictures of the app, for whoever works on its looks: MAJLIS_PICTURES=folder make web ARGS=pictures. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { House } from './harness/testApp.ts'
import { composer } from './harness/locators.ts'
import { cards, scene } from './harness/sampleData.ts'

const FOLDER = process.env['MAJLIS_PICTURES']

describe.runIf(FOLDER)('pictures', () => {
  let house: House
  beforeAll(async () => {
    house = await House.open()
  })
  afterAll(() => house.close())

  test('light, dark, phone, inspector, administration', async () => {
    const { lina, project, writing } = await scene(house)
    await house.owner.client.entities.change(lina.id, { role: 'admin' })
    const at = `/spaces/${project.id}`
    const still = { reducedMotion: 'reduce' } as const
    const light = await house.visit(lina, at, { ...still, colorScheme: 'light', viewport: { width: 1280, height: 800 } })
    const dark = await house.visit(lina, at, { ...still, colorScheme: 'dark', viewport: { width: 1280, height: 800 } })
    const phone = await house.visit(lina, at, { viewport: { width: 360, height: 640 }, deviceScaleFactor: 2, hasTouch: true })
    const wide = await house.visit(lina, at, { viewport: { width: 1440, height: 900 } })
    await writing()
    for (const page of [light, dark, phone, wide]) await page.getByText('the checks are written').waitFor()
    const take = (page: typeof light, name: string) => page.screenshot({ path: join(FOLDER!, `${name}.png`) })
    await take(light, 'light')
    await take(dark, 'dark')
    await take(phone, 'phone')
    await phone.getByRole('button', { name: 'All spaces' }).click()
    await take(phone, 'phone-spaces')
    await wide.getByRole('button', { name: 'Open the inspector' }).click()
    await wide.getByRole('complementary').getByRole('button', { name: /Scout/ }).waitFor()
    await take(wide, 'runs')
    house.model.release()
    await wide.getByRole('article').getByText('last look at the rollback').waitFor()
    await wide.getByRole('complementary').getByRole('button', { name: /Scout/ }).first().click()
    await wide.getByRole('button', { name: 'What it saw' }).click()
    await wide.getByText('SPACE HISTORY').first().click()
    await take(wide, 'saw')
    await wide.getByRole('button', { name: 'Members', exact: true }).click()
    await wide.getByText('asleep').first().waitFor()
    await take(wide, 'members')
    await composer(light).fill('@')
    await light.getByRole('option').first().waitFor()
    await take(light, 'mention')
    await light.keyboard.press('Control+k')
    await light.getByRole('combobox', { name: 'Find' }).fill('launch')
    await light.getByRole('option').nth(1).waitFor()
    await take(light, 'switcher')
    await light.keyboard.press('Escape')
    await light.keyboard.press('Control+i')
    await composer(light).fill('')
    await light.getByRole('button', { name: 'Menu' }).click()
    await take(light, 'menu')
    await light.keyboard.press('Escape')
    await light.goto('/admin/people')
    await light.getByText('Somebody new').waitFor()
    await take(light, 'people')
    await light.goto('/admin/agents')
    await light.getByRole('main').getByRole('link', { name: /Ada/ }).click()
    await light.getByRole('textbox', { name: 'Instructions' }).waitFor()
    await take(light, 'agent')
    await light.getByRole('button', { name: 'Add a rule' }).click()
    await light.getByRole('textbox', { name: 'Tools of rule 1' }).fill('deploy')
    await light.getByRole('button', { name: 'Show what it would see' }).click()
    await light.getByText('SPACE HISTORY').first().click()
    await light.getByText('SPACE HISTORY').first().scrollIntoViewIfNeeded()
    await take(light, 'try')
    const cardsAt = `/spaces/${await cards(house, lina)}`
    for (const [page, name] of [[wide, 'cards'], [dark, 'cards-dark'], [phone, 'cards-phone']] as const) {
      await page.goto(cardsAt)
      await page.getByRole('button', { name: 'Approve' }).waitFor()
      await page.getByRole('button', { name: 'Try again' }).waitFor({ state: 'attached' })
      await take(page, name)
    }
    const iris = (await house.owner.client.agents.list()).find((agent) => agent.name === 'Iris')!
    await wide.goto(`${cardsAt}?inspect=${iris.id}`)
    await wide.getByText('It remembers nothing yet').waitFor()
    await take(wide, 'agent-held')
    await wide.goto(`${cardsAt}?inspect=settings`)
    await wide.getByText('Whom a message wakes').waitFor()
    await take(wide, 'settings')
    await phone.goto(`${cardsAt}?inspect=members`)
    await phone.getByText('People').waitFor()
    await take(phone, 'phone-members')
    const stranger = await (await house.stranger()).newPage()
    await stranger.goto('/')
    await take(stranger, 'sign-in')
    expect(house.complaints).toEqual([])
  })
})
