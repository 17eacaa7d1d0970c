/** Before any test: Chromium is unpacked once, out of its npm package. Two files' tests doing so at once would break each other's. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync } from 'node:fs'
import { join } from 'node:path'

import bundled, { inflate } from '@sparticuz/chromium'

const MODULES = join(import.meta.dirname, '../../node_modules')
const FOLDER = join(MODULES, '.majlis-chromium')
const ARCHIVES = join(MODULES, '@sparticuz/chromium/bin')

export default async function setup(): Promise<void> {
  // MAJLIS_TEST_CHROMIUM names another one.
  process.env['MAJLIS_TEST_CHROMIUM'] ??= await unpacked()
  if (!starts(process.env['MAJLIS_TEST_CHROMIUM'])) process.env['MAJLIS_TEST_CHROMIUM_LIBRARIES'] = await itsOwnLibraries()
  if (!existsSync('/etc/fonts')) process.env['FONTCONFIG_PATH'] ??= join(FOLDER, 'fonts')
}

async function unpacked(): Promise<string> {
  if (!existsSync(FOLDER)) {
    // Whole or not at all: it becomes what it is by its last step.
    const part = mkdtempSync(join(MODULES, '.chromium-'))
    await into(part, () => bundled.executablePath())
    renameSync(part, FOLDER)
  }
  return join(FOLDER, 'chromium')
}

/** A bare machine has not even the libraries that Chromium is linked with (libnss3 and the like); the package brings them along. */
async function itsOwnLibraries(): Promise<string> {
  await into(FOLDER, () => inflate(join(ARCHIVES, 'al2023.tar.br')))
  return join(FOLDER, 'al2023/lib')
}

const starts = (browser: string): boolean => spawnSync(browser, ['--version'], { stdio: 'ignore' }).status === 0

/** The package unpacks into the folder for temporary files. */
async function into(folder: string, unpack: () => Promise<unknown>): Promise<void> {
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  await unpack()
  if (before === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = before
}
