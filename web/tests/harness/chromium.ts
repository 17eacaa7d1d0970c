/** Unpacks Chromium from its npm package once, before all tests: test files that did it at the same time would conflict. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync } from 'node:fs'
import { join } from 'node:path'

import bundled, { inflate } from '@sparticuz/chromium'

const MODULES = join(import.meta.dirname, '../../node_modules')
const FOLDER = join(MODULES, '.majlis-chromium')
const ARCHIVES = join(MODULES, '@sparticuz/chromium/bin')

export default async function setup(): Promise<void> {
  // MAJLIS_TEST_CHROMIUM selects another browser.
  process.env['MAJLIS_TEST_CHROMIUM'] ??= await unpackBrowser()
  if (!starts(process.env['MAJLIS_TEST_CHROMIUM'])) process.env['MAJLIS_TEST_CHROMIUM_LIBRARIES'] = await unpackLibraries()
  if (!existsSync('/etc/fonts')) process.env['FONTCONFIG_PATH'] ??= join(FOLDER, 'fonts')
}

async function unpackBrowser(): Promise<string> {
  if (!existsSync(FOLDER)) {
    // Atomic: the folder gets its name in the last step.
    const part = mkdtempSync(join(MODULES, '.chromium-'))
    await into(part, () => bundled.executablePath())
    renameSync(part, FOLDER)
  }
  return join(FOLDER, 'chromium')
}

/** Shared libraries such as libnss3, for machines that lack them. */
async function unpackLibraries(): Promise<string> {
  await into(FOLDER, () => inflate(join(ARCHIVES, 'al2023.tar.br')))
  return join(FOLDER, 'al2023/lib')
}

const starts = (browser: string): boolean => spawnSync(browser, ['--version'], { stdio: 'ignore' }).status === 0

/** The package unpacks into TMPDIR. */
async function into(folder: string, unpack: () => Promise<unknown>): Promise<void> {
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  await unpack()
  if (before === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = before
}
