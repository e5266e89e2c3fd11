// The engine, as its team hands it over.
-f rtl/engine.f
