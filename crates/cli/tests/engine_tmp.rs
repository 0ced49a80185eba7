use andon_pixels::{Engine, Limits, Never, NoMaterials};
#[test]
fn timing() {
    let engine = Engine::new(andon_codecs::ALL, Limits::default());
    for name in ["casa-mila", "blue-periwinkle", "ocean-waves"] {
        let bytes = std::fs::read(format!("/work/shared/photos/{name}.jpg")).unwrap();
        for text in ["fit:150x150,q:80", "fit:400x400,q:80", "fit:1200x1200,q:80", "fit:400x400,q:80,as:webp"] {
            let recipe: andon_recipe::Recipe = text.parse().unwrap();
            let start = std::time::Instant::now();
            let plan = engine.plan(&recipe, &bytes).unwrap();
            let planned = start.elapsed();
            let mut best = None;
            for _ in 0..3 { let r = engine.run(&plan, &bytes, &NoMaterials, &Never).unwrap(); let t = r.timings; if best.is_none_or(|b: andon_pixels::Timings| t.decode + t.stages + t.encode < b.decode + b.stages + b.encode) { best = Some(t); } }
            println!("{name} {:?} plan {planned:?}: {plan}", (plan.info().width, plan.info().height));
            println!("   {:?}  est {:?}", best.unwrap(), plan.steps().iter().map(|s| format!("{:.2}ms", s.cost.nanos as f64/1e6)).collect::<Vec<_>>());
        }
    }
}
