import { modelSubject } from '../src/model/model-subject.ts'
import { examine } from '../src/vitest.ts'

examine('the model', () => modelSubject())
