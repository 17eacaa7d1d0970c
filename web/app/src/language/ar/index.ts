/** Arabic. */
import type { Catalogue } from '../language.ts'

const texts: Catalogue = {}
export default texts
