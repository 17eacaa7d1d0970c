/** The README's two pictures: MAJLIS_PICTURES=folder make web ARGS=readme. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { House } from './harness/testApp.ts'
import { scene } from './harness/sampleData.ts'

const FOLDER = process.env['MAJLIS_PICTURES']

describe.runIf(FOLDER)('the README', () => {
  let house: House
  beforeAll(async () => {
    house = await House.open()
  })
  afterAll(() => house.close())

  test('shows a space in which an agent is writing, in light and in dark', async () => {
    const { lina, project, writing } = await scene(house)
    const looks = ['light', 'dark'] as const
    const visit = (colorScheme: (typeof looks)[number]) =>
      house.visit(lina, `/spaces/${project.id}`, { colorScheme, reducedMotion: 'reduce', viewport: { width: 1280, height: 800 } })
    const pages = await Promise.all(looks.map(visit))
    await writing()
    for (const [n, page] of pages.entries()) {
      await page.getByText('the checks are written').waitFor()
      await page.screenshot({ path: join(FOLDER!, `${looks[n]!}.png`) })
    }
    expect(house.complaints).toEqual([])
  })
})
