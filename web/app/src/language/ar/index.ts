/**
 * Arabic. Buttons are verbal nouns (حفظ), as on phones and in other chats; advice speaks to one person.
 *
 * space مساحة · member عضو · agent وكيل · person شخص · service خدمة · viewer مُشاهد · admin of a space مشرف ·
 * administrator مسؤول · owner مالك · message رسالة · mention إشارة · thread سلسلة الردود · card بطاقة · decision قرار ·
 * run تشغيل · step خطوة · cycle دورة · trigger محفّز · tool أداة · model نموذج · provider مزوّد · prompt موجّه ·
 * token of a model رمز · token for access رمز وصول · cached مخزَّن مؤقتًا · budget ميزانية · memory ذكرى · goal هدف ·
 * plan خطة · orchestrator منسّق · inspector لوحة التفاصيل · webhook خطّاف ويب · secret مفتاح سري · delivery تسليم
 */
import type { Catalogue } from '../language.ts'
import admin from './admin.ts'
import agents from './agents.ts'
import conversation from './conversation.ts'
import frame from './frame.ts'
import inspector from './inspector.ts'
import settings from './settings.ts'

export const PARTS: readonly Catalogue[] = [frame, conversation, inspector, admin, agents]

/** With a mark of their own: "End" is a time there, and elsewhere a button. */
const ofSettings = Object.fromEntries(Object.entries(settings).map(([text, translated]) => [`setting: ${text}`, translated]))

const texts: Catalogue = Object.assign({}, ...PARTS, ofSettings)
export default texts
